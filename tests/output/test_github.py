"""Workflow commands, read back as the runner of GitHub Actions reads them."""

from __future__ import annotations

import re
from urllib.parse import unquote

from relax_lint.output.github import render_github
from relax_lint.results.check import Check, Edit, Fix
from relax_lint.results.verdict import Severity
from tests.output.builders import fine, overflow, place, report

_COMMAND = re.compile(r"::(?P<command>\w+) (?P<properties>[^:]*)::(?P<text>.*)")


def commands(*checks: Check) -> list[tuple[str, dict[str, str], str]]:
    found = []
    for line in render_github(report(*checks)).splitlines():
        match = _COMMAND.fullmatch(line)
        assert match is not None, line
        pairs = (pair.split("=", 1) for pair in match["properties"].split(","))
        properties = {name: unquote(value) for name, value in pairs}
        found.append((match["command"], properties, unquote(match["text"])))
    return found


def test_a_finding_is_one_command() -> None:
    ((command, properties, text),) = commands(overflow())
    assert command == "warning"
    assert properties == {
        "title": "RLX101 storage-overflow",
        "file": "model.py",
        "line": "9",
        "endLine": "9",
        "col": "17",
        "endColumn": "62",
    }
    lines = text.split("\n")
    assert lines[0] == "tensor `alloc` needs `4*m` bytes, storage `storage` has 16 bytes"
    assert "safe iff m <= 4; naive fails from m = 5; pooled hides it until m = 1025" in lines


def test_fixes_are_named_with_the_option_that_applies_them() -> None:
    edits = (Edit(place(8, 46, 48), "4 * m"),)
    ((_, _, text),) = commands(
        overflow(fixes=(Fix("make it larger", "safe", edits), Fix("check it", "unsafe", edits)))
    )
    assert text.split("\n")[-2:] == ["fix: make it larger (`--fix`)", "or: check it"]


def test_the_worst_come_first_because_github_shows_the_first_ten_of_a_kind() -> None:
    found = commands(overflow(severity=Severity.NOTE), overflow(), fine(), overflow(severity=Severity.ERROR))
    assert [command for command, _, _ in found] == ["error", "warning", "notice"]


def test_text_and_paths_cannot_end_a_command_or_a_property() -> None:
    nasty = "100% of\r\n::error file=x::y"
    ((_, properties, text),) = commands(overflow(message=nasty, path="a,b:c%.py", location=None))
    assert properties == {"title": "RLX101 storage-overflow", "file": "a,b:c%.py"}
    assert "\n::error" not in text


def test_a_finding_of_several_lines_has_no_columns() -> None:
    ((_, properties, _),) = commands(overflow(location=place(4, 3, 9, end_line=7)))
    assert properties["line"] == "4"
    assert properties["endLine"] == "7"
    assert "col" not in properties


def test_nothing_is_written_for_what_is_fine_or_suppressed() -> None:
    assert render_github(report(fine(), overflow(suppressed=True))) == ""
