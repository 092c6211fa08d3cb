"""What the editor is shown, made from results by hand."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import types

from relax_lint.results.check import Check, Edit, Fix
from relax_lint.results.location import Location
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.server.messages import DocumentResult, actions, hover
from relax_lint.server.positions import Ruler

URI = "file:///code/model.py"
LINES = ["x = '🧠ß'; y = 1", "z = 2"]


def place(line: int, column: int, end_column: int) -> Location:
    return Location("/code/model.py", line, column, line, end_column)


def check(**fields: Any) -> Check:
    defaults: dict[str, Any] = {
        "rule": "RLX101",
        "name": "storage-overflow",
        "verdict": Verdict.NEEDS_RUNTIME_CHECK,
        "severity": Severity.WARNING,
        "message": "tensor `y` is too large",
        "path": "/code/model.py",
        "module": "Module",
        "function": "main",
        "location": place(1, 11, 16),
    }
    return Check(**defaults | fields)


def judged(*checks: Check, encoding: str = "utf-16") -> DocumentResult:
    return DocumentResult(URI, 3, Ruler(LINES, encoding), checks)


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 14), ("utf-16", 11), ("utf-32", 10)])
def test_columns_in_every_encoding(encoding: str, column: int) -> None:
    ruler = Ruler(LINES, encoding)
    start = ruler.range(place(1, 11, 16)).start
    assert start == types.Position(0, column)
    assert ruler.place(start) == (1, 11)


def test_places_outside_of_the_text() -> None:
    ruler = Ruler(LINES, "utf-16")
    assert ruler.range(None) == types.Range(types.Position(0, 0), types.Position(0, 1))
    assert ruler.range(place(9, 4, 7)).end == types.Position(8, 0)
    assert ruler.place(types.Position(9, 9)) == (10, 1)
    assert ruler.place(types.Position(1, 99)) == (2, 6)


def test_names_of_the_file_are_no_markdown() -> None:
    message = "tensor `a*b*` with <img> and [link](http://x) and *stars*"
    shown = hover(judged(check(message=message)), types.Position(0, 12))
    assert shown is not None
    assert isinstance(shown.contents, types.MarkupContent)
    assert "tensor `a*b*` with \\<img\\> and \\[link\\](http://x) and \\*stars\\*" in shown.contents.value


def test_hover_is_about_the_innermost_operation() -> None:
    outer = check(rule="RLX901", message="outer", location=Location("/code/model.py", 1, 1, 2, 6))
    shown = hover(judged(outer, check(message="inner")), types.Position(0, 12))
    assert shown is not None
    assert isinstance(shown.contents, types.MarkupContent)
    assert "inner" in shown.contents.value
    assert "outer" not in shown.contents.value


def offered(*fixes: Fix, versioned: bool = True, line: int = 0) -> list[types.CodeAction]:
    where = types.Range(types.Position(line, 0), types.Position(line, 40))
    return list(actions(judged(check(fixes=fixes)), where, versioned=versioned))


def test_fixes_are_offered_as_edits() -> None:
    edit = Edit(place(1, 15, 16), "2")
    safe, unsafe, shown = (Fix("write 2", word, (edit,)) for word in ("safe", "unsafe", "display"))
    first, second, everywhere = offered(safe, unsafe, shown)
    assert (everywhere.kind, everywhere.edit) == ("source.fixAll.relax-lint", first.edit)
    assert (first.title, first.is_preferred) == ("RLX101: write 2", True)
    assert (second.title, second.is_preferred) == ("RLX101: write 2 (unsafe)", False)
    assert first.edit is not None
    (change,) = first.edit.document_changes or ()
    assert isinstance(change, types.TextDocumentEdit)
    assert (change.text_document.uri, change.text_document.version) == (URI, 3)
    # Two code units for the letter before it.
    expected = types.Range(types.Position(0, 15), types.Position(0, 16))
    assert list(change.edits) == [types.TextEdit(expected, "2")]
    (plain, *_) = offered(safe, versioned=False)
    assert plain.edit is not None
    assert plain.edit.changes == {URI: [types.TextEdit(expected, "2")]}


def test_fixes_of_other_lines_are_not_offered() -> None:
    (everywhere,) = offered(Fix("write 2", "safe", (Edit(place(1, 15, 16), "2"),)), line=1)
    assert everywhere.kind == "source.fixAll.relax-lint"
    assert offered(Fix("write 2", "unsafe", (Edit(place(1, 15, 16), "2"),)), line=1) == []
