"""What an editor shows besides findings: comments that accept them, hints in the text, the memory report."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol import types

from tests.api.programs import OVERFLOW
from tests.server.editor import Editor
from tests.server.test_server import ALLOCATION, edited

HEAD = next(number for number, line in enumerate(OVERFLOW.splitlines()) if "def main(" in line)


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    window = types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(True))
    editor = Editor(tmp_path_factory.mktemp("work"), {"inlayHints": True}, window=window)
    yield editor
    assert editor.close() == 0


def ignored(editor: Editor, name: str, text: str, title: str, language: str = "python") -> str:
    """The text after an action that makes its findings go away."""
    uri = editor.open(name, text, language)
    (found,) = editor.diagnostics(uri)
    (action,) = [action for action in editor.actions(uri, found) if action.title == f"RLX101: {title}"]
    new = edited(text, action.edit, uri)
    assert editor.diagnostics(uri, editor.change(uri, new)) == []
    return new


def test_a_line_is_ignored(editor: Editor) -> None:
    new = ignored(editor, "line.py", OVERFLOW, "ignore this line").splitlines()
    assert new[ALLOCATION] == OVERFLOW.splitlines()[ALLOCATION] + "  # relax-lint: ignore[RLX101]"
    assert len(new) == len(OVERFLOW.splitlines())


def test_a_comment_that_is_there_is_extended(editor: Editor) -> None:
    lines = OVERFLOW.splitlines()
    lines[ALLOCATION] += "  # relax-lint: ignore[RLX103] -- small"
    text = "\n".join(lines) + "\n"
    uri = editor.open("extended.py", text)
    found = [one for one in editor.diagnostics(uri) if one.code == "RLX101"]
    (action,) = [
        one for one in editor.actions(uri, found[0]) if one.title.endswith("RLX101: ignore this line")
    ]
    assert edited(text, action.edit, uri).count("ignore[RLX103, RLX101] -- small") == 1


@pytest.mark.parametrize(
    ("head", "line"),
    [("", 0), ("#!/usr/bin/env python\n# coding: utf-8\n", 2), ("# an ordinary comment\n", 0)],
)
def test_a_file_is_ignored(editor: Editor, head: str, line: int) -> None:
    new = ignored(editor, f"file{line}{len(head)}.py", head + OVERFLOW, "ignore in this file").splitlines()
    assert new[line] == "# relax-lint: ignore-file[RLX101]"
    assert new[:line] + new[line + 1 :] == (head + OVERFLOW).splitlines()


def test_a_page_has_comments_for_lines_only(editor: Editor) -> None:
    page = f"# Page\n\n```python\n{OVERFLOW}```\n"
    ignored(editor, "page.md", page, "ignore this line", "markdown")
    uri = editor.open("page2.md", page, "markdown")
    titles = [action.title for action in editor.actions(uri, editor.diagnostics(uri)[0])]
    assert not [title for title in titles if title.endswith("ignore in this file")]


def test_hints_tell_bytes_and_the_safe_region(editor: Editor) -> None:
    uri = editor.open("hinted.py", OVERFLOW)
    editor.diagnostics(uri)
    assert editor.hints(uri) == [(ALLOCATION - 1, "16 bytes"), (ALLOCATION, "4*m bytes; safe iff m <= 4")]


def test_hints_are_off_until_they_are_asked_for(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    uri = editor.open("off.py", OVERFLOW)
    editor.diagnostics(uri)
    assert editor.hints(uri) == []
    before = len(editor.published)
    editor.configure({"relax-lint": {"inlayHints": True, "codeLens": False, "unknown": 3}})
    editor.diagnostics(uri, after=before)
    assert [text for _, text in editor.hints(uri)] == ["16 bytes", "4*m bytes; safe iff m <= 4"]
    assert editor.lenses(uri) == []
    editor.close()


def test_the_memory_report_is_opened_from_a_lens(editor: Editor) -> None:
    uri = editor.open("lens.py", OVERFLOW)
    editor.diagnostics(uri)
    (lens,) = editor.lenses(uri)
    assert lens.range.start == types.Position(HEAD, 0)
    assert lens.command is not None
    assert lens.command.title == "memory: peak live 16 bytes"
    assert editor.execute(lens.command) is None
    (shown,) = editor.shown
    assert shown.external
    path = Path(shown.uri.removeprefix("file://"))
    page = path.read_text(encoding="utf-8")
    path.unlink()
    assert "<html" in page
    assert "4*m" in page


def test_an_editor_that_shows_the_report_itself_gets_the_page(tmp_path: Path) -> None:
    editor = Editor(tmp_path, {"showReport": False})
    uri = editor.open("page.py", OVERFLOW)
    editor.diagnostics(uri)
    (lens,) = editor.lenses(uri)
    assert lens.command is not None
    assert "4*m" in editor.execute(lens.command)
    assert editor.shown == []
    lens.command.arguments = [editor.uri("closed.py")]
    assert editor.execute(lens.command) is None
    editor.close()


def test_without_a_browser_the_path_of_the_report_is_told(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    uri = editor.open("told.py", OVERFLOW)
    editor.diagnostics(uri)
    (lens,) = editor.lenses(uri)
    assert lens.command is not None
    editor.execute(lens.command)
    (message,) = editor.wait_for(lambda: editor.messages)
    path = message.removeprefix("the memory report is ")
    assert os.stat(path).st_mode & 0o077 == 0
    os.unlink(path)
    editor.close()
