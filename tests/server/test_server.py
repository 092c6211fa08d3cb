"""The server as an editor sees it, over its standard input and output."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol import types

from tests import forking
from tests.api.programs import FINE, OVERFLOW
from tests.server.editor import Editor

ORDINARY = "def function():\n    return 1\n"
ALLOCATION = next(number for number, line in enumerate(OVERFLOW.splitlines()) if "alloc_tensor" in line)
COLUMN = OVERFLOW.splitlines()[ALLOCATION].index("R.memory")


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    editor = Editor(tmp_path_factory.mktemp("work"))
    yield editor
    assert editor.close() == 0


def codes(diagnostics: list[types.Diagnostic]) -> list[object]:
    return [diagnostic.code for diagnostic in diagnostics]


def test_a_document_is_judged_when_it_is_opened(editor: Editor) -> None:
    (found,) = editor.diagnostics(editor.open("opened.py", OVERFLOW))
    assert (found.code, found.source, found.severity) == (
        "RLX101",
        "relax-lint",
        types.DiagnosticSeverity.Warning,
    )
    assert found.range.start == types.Position(ALLOCATION, COLUMN)
    assert found.message.startswith(
        "storage-overflow: tensor `y` needs `4*m` bytes, storage `s` has 16 bytes\n"
    )
    assert "safe iff m <= 4; naive fails from m = 5; pooled hides it until m = 1025" in found.message
    assert [one.message for one in found.related_information or ()] == ["storage of 16 bytes"]


def test_only_the_newest_of_several_changes_is_published(editor: Editor) -> None:
    uri = editor.open("typed.py", ORDINARY)
    assert editor.diagnostics(uri) == []
    for size in range(5, 9):
        last = editor.change(uri, OVERFLOW.replace("[16]", f"[{4 * size}]"))
    (found,) = editor.diagnostics(uri, last)
    assert "safe iff m <= 8" in found.message
    assert {params.version for params in editor.published if params.uri == uri} == {1, last}


def test_what_was_mended_is_taken_back(editor: Editor) -> None:
    uri = editor.open("mended.py", OVERFLOW)
    assert codes(editor.diagnostics(uri)) == ["RLX101"]
    assert editor.diagnostics(uri, editor.change(uri, FINE)) == []
    editor.change(uri, OVERFLOW)
    editor.shut(uri)
    assert editor.diagnostics(uri, None) == []


def test_hover_shows_the_verdict_and_the_safe_region(editor: Editor) -> None:
    uri = editor.open("hovered.py", OVERFLOW)
    editor.diagnostics(uri)
    shown = editor.hover(uri, ALLOCATION, COLUMN + 3)
    assert shown is not None
    assert isinstance(shown.contents, types.MarkupContent)
    text = shown.contents.value
    assert text.startswith("**RLX101** storage-overflow (warning): tensor `y` needs `4*m` bytes")
    assert "safe iff m \\<= 4" in text
    assert [paragraph[:9] for paragraph in text.split("\n\n")] == [
        line[:9] for line in text.splitlines() if line
    ]
    assert "**RLX102** storage-underrun (always-fine)" in text
    storage = editor.hover(uri, ALLOCATION - 1, COLUMN + 3)
    assert storage is not None
    assert isinstance(storage.contents, types.MarkupContent)
    assert "(always-fine)" in storage.contents.value
    assert editor.hover(uri, 0, 0) is None
    # What is known is about another version of the text.
    editor.change(uri, "\n" + OVERFLOW)
    assert editor.hover(uri, ALLOCATION, COLUMN + 3) is None


def test_columns_are_counted_in_utf_16(editor: Editor) -> None:
    assert editor.capabilities.position_encoding in (None, types.PositionEncodingKind.Utf16)
    wide = OVERFLOW.replace('"global"', '"🧠🧠🧠"')
    found = editor.diagnostics(editor.open("wide.py", wide))
    (scope,) = [one for one in found if one.code == "RLX403"]
    line = wide.splitlines()[scope.range.start.line]
    assert scope.range.end.character == len(line.encode("utf-16-le")) // 2 > len(line)


def edited(text: str, change: types.WorkspaceEdit | None, uri: str) -> str:
    """The text with an edit of the document made, as an editor does it."""
    assert change is not None
    assert change.changes is not None
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    for edit in sorted(change.changes[uri], key=lambda edit: edit.range.start, reverse=True):
        start, end = (starts[place.line] + place.character for place in (edit.range.start, edit.range.end))
        text = text[:start] + edit.new_text + text[end:]
    return text


def test_an_action_mends_the_text(editor: Editor) -> None:
    uri = editor.open("fixed.py", OVERFLOW)
    (found,) = editor.diagnostics(uri)
    offered = editor.actions(uri, found)
    assert [action.title for action in offered if action.is_preferred]
    assert [action.title for action in offered][-2:] == [
        "RLX101: ignore this line",
        "RLX101: ignore in this file",
    ]
    for action in offered:
        assert editor.diagnostics(uri, editor.change(uri, edited(OVERFLOW, action.edit, uri))) == [], (
            action.title
        )


def test_ordinary_files_and_other_documents_cost_nothing(editor: Editor) -> None:
    assert editor.diagnostics(editor.open("ordinary.py", ORDINARY)) == []
    before = len(editor.published)
    editor.open("cell", OVERFLOW, uri="vscode-notebook-cell:/code/book.ipynb#1")
    editor.open("model.json", OVERFLOW, language="json")
    assert codes(editor.diagnostics(editor.open("", OVERFLOW, uri="untitled:Untitled-1"))) == ["RLX101"]
    assert {params.uri for params in editor.published[before:]} == {"untitled:Untitled-1"}


def test_markdown_is_read_as_on_the_command_line(editor: Editor) -> None:
    uri = editor.open("page.md", f"# Page\n\n```python\n{OVERFLOW}```\n", language="markdown")
    (found,) = editor.diagnostics(uri)
    assert found.range.start == types.Position(ALLOCATION + 3, COLUMN)


def test_a_text_that_cannot_be_read_and_one_that_declares_an_encoding(editor: Editor) -> None:
    assert codes(editor.diagnostics(editor.open("broken.py", OVERFLOW + "\nx = (\n"))) == ["RLX901", "RLX101"]
    text = "# coding: latin-1\n# größer\n" + OVERFLOW
    assert codes(editor.diagnostics(editor.open("latin.py", text))) == ["RLX101"]


def test_configuration_is_that_of_the_workspace(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.relax-lint]\nignore = ["storage-overflow"]\nexclude = ["generated/"]\n')
    uri = editor.open("src/model.py", OVERFLOW)
    assert editor.diagnostics(uri) == []
    assert editor.diagnostics(editor.open("generated/model.py", OVERFLOW.replace("[16]", "[0]"))) == []

    settings.write_text("[tool.relax-lint]\npge-size = 1\n")
    editor.save(settings.as_uri())
    (message,) = editor.wait_for(lambda: editor.messages)
    assert "unknown key `pge-size`; did you mean `page-size`?" in message

    settings.write_text("[tool.relax-lint]\nallocators = ['naive']\n")
    before = len(editor.published)
    editor.save(settings.as_uri())
    (found,) = editor.diagnostics(uri, after=before)
    assert "safe iff m <= 4; naive fails from m = 5" in found.message
    assert editor.close() == 0


def test_what_the_baseline_accepts_is_not_shown(tmp_path: Path) -> None:
    watching = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    editor = Editor(tmp_path, workspace=types.WorkspaceClientCapabilities(did_change_watched_files=watching))
    (tmp_path / "pyproject.toml").write_text('[tool.relax-lint]\nbaseline = "ci/accepted.json"\n')
    (tmp_path / "ci").mkdir()
    (tmp_path / "model.py").write_text(OVERFLOW)
    written = forking.run(
        [sys.executable, "-m", "relax_lint.cli", "--write-baseline", "."], cwd=tmp_path, check=False
    )
    assert written.returncode == 0
    accepted = tmp_path / "ci" / "accepted.json"

    # Accepted where it stands, also on the unsaved screen; elsewhere it is a finding.
    uri = editor.open("model.py", "\n" + OVERFLOW)
    assert editor.diagnostics(uri) == []
    assert codes(editor.diagnostics(editor.open("other.py", OVERFLOW))) == ["RLX101"]
    editor.wait_for(lambda: set(editor.watched) == {"**/pyproject.toml", "**/accepted.json"})

    text = accepted.read_text()
    accepted.write_text('{"version": 1, "findings": []}')
    before = len(editor.published)
    editor.changed(accepted.as_uri())
    assert codes(editor.diagnostics(uri, after=before)) == ["RLX101"]

    accepted.write_text(text)
    before = len(editor.published)
    editor.save(accepted.as_uri())
    assert editor.diagnostics(uri, after=before) == []

    accepted.write_text("nothing")
    editor.save(accepted.as_uri())
    (message,) = editor.wait_for(lambda: editor.messages)
    assert "not a baseline" in message
    assert "internal" not in message
    assert editor.close() == 0


def test_a_text_that_takes_too_long_gives_way_to_the_next_version(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    body = OVERFLOW.split("\n", 1)[1]
    slow = OVERFLOW + "\n".join(body.replace("Module", f"Module{number}") for number in range(400))
    uri = editor.open("slow.py", slow)
    time.sleep(1.0)
    start = time.monotonic()
    assert codes(editor.diagnostics(uri, editor.change(uri, OVERFLOW))) == ["RLX101"]
    assert time.monotonic() - start < 30
    assert {params.version for params in editor.published} == {2}
    assert editor.close() == 0


def children(pid: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_no_process_is_left_behind(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    editor.diagnostics(editor.open("model.py", OVERFLOW))
    (worker,) = children(editor.pid)
    assert editor.close() == 0
    editor.wait_for(lambda: not Path(f"/proc/{worker}").exists())


def test_the_server_ends_when_the_editor_is_gone() -> None:
    command = [sys.executable, "-m", "relax_lint.cli", "server"]
    result = subprocess.run(command, input="", capture_output=True, text=True, timeout=30, check=False)
    assert (result.returncode, result.stdout) == (0, "")
    assert "Traceback" not in result.stderr


def test_without_the_extra_one_line_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['pygls'] = None; from relax_lint.cli import main; sys.exit(main(['server']))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("relax-lint: error: the server needs `pygls`: ")
    assert "relax-lint[lsp]" in line
