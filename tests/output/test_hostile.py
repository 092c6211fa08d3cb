"""Every format, with hostile strings in every field that a linted file may decide: nothing reaches a terminal but text, no
line is a command of a CI system, and the syntax of the format stays whole.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, example, given, settings

from relax_lint.commands import terminal
from relax_lint.output.formats import FORMATS
from relax_lint.output.presentation import Presentation
from relax_lint.output.proofs import write_proofs
from relax_lint.output.style import Style
from relax_lint.output.text import render_findings
from relax_lint.settings.config import Config
from relax_lint.support.escaping import without_commands
from relax_lint.suppressions.baseline import entries_of, read_baseline, write_baseline
from relax_lint.totals.comparison import Change, Comparison, Subject
from tests.output.hostile import commands, controls, hostile_report, strings

KINDS = [(command, name) for command, formats in FORMATS.items() for name in formats]
EXAMPLES = (
    "\n::error file=x::y",
    ":",
    "::error::y",
    "##[error]y",
    "\x1b[2J\0",
    "a\u202eb\u2066",
    "\udcff",
    "\r##vso[a]b",
)

Test = TypeVar("Test", bound=Callable[..., None])

hostile = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def with_examples(test: Test) -> Test:
    for text in EXAMPLES:
        test = example(text=text)(test)
    return test


def presentation(text: str, *, color: bool) -> Presentation:
    subject = Subject(text, text, text)
    change = Change(subject, "peak_live", text, text, Fraction(1), True)
    comparison = Comparison(text, Fraction(1, 2), (change,), (subject,), (subject,))
    return Presentation(Style(color), Config(), provers=True, comparison=comparison)


def render(command: str, name: str, text: str, *, color: bool = False) -> str:
    return FORMATS[command][name](hostile_report(text), presentation(text, color=color))


@pytest.mark.parametrize(("command", "name"), KINDS)
@hostile
@given(text=strings)
@with_examples
def test_no_format_reaches_a_terminal_with_more_than_text(command: str, name: str, text: str) -> None:
    for color in (False, True) if name == "text" else (False,):
        rendered = render(command, name, text, color=color)
        assert controls(rendered) == set()
        rendered.encode("utf-8")
        if name != "github":
            assert list(commands(rendered)) == []


@hostile
@given(text=strings)
@with_examples
def test_every_line_of_github_is_one_command_of_ours(text: str) -> None:
    form = re.compile(
        r"::(error|warning|notice) title=RLX\d+ [a-z-]+,file=[^,:]*(,(line|endLine|col|endColumn)=\d+)*::.*"
    )
    for command in ("check", "memory"):
        rendered = render(command, "github", text)
        assert all(form.fullmatch(line) for line in rendered.splitlines())
        # Nothing looks like one of the old form inside of it.
        assert "##[" not in rendered


@hostile
@given(text=strings)
@with_examples
def test_json_stays_json_and_exact(text: str) -> None:
    for command in ("check", "memory", "replay"):
        rendered = render(command, "json", text)
        assert rendered.isascii()
        # Two halves of a character side by side are that character in JSON.
        assert json.loads(rendered)["checks"][0]["message"] == json.loads(json.dumps(text))


@hostile
@given(text=strings)
@with_examples
def test_sarif_is_for_strict_readers(text: str) -> None:
    rendered = render("check", "sarif", text)
    # A strict reader refuses half of a pair.
    json.dumps(json.loads(rendered), ensure_ascii=False).encode()
    (run,) = json.loads(rendered)["runs"]
    for result in run["results"]:
        for place in result["locations"]:
            assert re.fullmatch(r"[A-Za-z0-9._~/%:-]*", place["physicalLocation"]["artifactLocation"]["uri"])


@hostile
@given(text=strings)
@with_examples
def test_junit_stays_xml_with_our_elements(text: str) -> None:
    root = ET.fromstring(render("check", "junit", text))
    assert {node.tag for node in root.iter()} == {"testsuites", "testsuite", "testcase", "error", "failure"}
    assert {name for node in root.iter() for name in node.attrib} <= {
        "name", "tests", "failures", "errors", "file", "classname", "type", "message",
    }  # fmt: skip


@hostile
@given(text=strings)
@with_examples
def test_html_has_one_script_and_one_block_of_data(text: str) -> None:
    ordinary, page = render("memory", "html", "n"), render("memory", "html", text)
    assert re.findall(r"<[a-zA-Z/!]", page) == re.findall(r"<[a-zA-Z/!]", ordinary)
    data = re.search(r'id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert all(controls(each) == set() for each in texts_in(json.loads(data[1])))


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from (key, *texts_in(item))
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)


@hostile
@given(text=strings)
@with_examples
def test_what_goes_to_standard_error(text: str) -> None:
    written = io.StringIO()
    before, sys.stderr = sys.stderr, written
    try:
        terminal.tell(f"relax-lint: error: {text}")
        terminal.tell(text)
        terminal.tell_all(render_findings(hostile_report(text)))
    finally:
        sys.stderr = before
    assert controls(written.getvalue()) == set()
    assert list(commands(written.getvalue())) == []


@hostile
@given(text=strings)
@with_examples
def test_proofs_are_files_of_the_folder_that_show_themselves(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("proofs")
    written = write_proofs(hostile_report(text), str(folder / "proofs"))
    assert [path.name for path in folder.iterdir()] == ["proofs"]
    names = {path.name for path in (folder / "proofs").iterdir()}
    assert names == {
        Path(check.proof_record.file or "").name for check in written.checks if check.proof_record
    }
    for path in (folder / "proofs").iterdir():
        assert re.fullmatch(r"[0-9a-f]{16}\.(smt2|txt)", path.name)
        content = path.read_text(encoding="utf-8")
        # What follows the head of a script is the prover's.
        head = content if path.suffix == ".txt" else "\n".join(content.split("\n")[:5])
        assert controls(head) == set()
        assert list(commands(head)) == []
        if path.suffix == ".smt2":
            assert all(line.startswith(";") for line in content.split("\n")[:3])


@hostile
@given(text=strings)
@with_examples
def test_a_baseline_is_read_back_as_it_was(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = str(tmp_path_factory.mktemp("baseline") / "accepted.json")
    entries = entries_of(hostile_report(text), "")
    write_baseline(path, entries)
    assert set(read_baseline(path)) == set(entries)
    assert controls(Path(path).read_text(encoding="utf-8")) == set()


@hostile
@given(text=strings)
@with_examples
def test_what_the_editor_shows(text: str) -> None:
    pytest.importorskip("pygls")

    from lsprotocol import types

    from relax_lint.server.hints import inlay_hints
    from relax_lint.server.messages import DocumentResult, _line, diagnostic
    from relax_lint.server.positions import Ruler

    checks = hostile_report(text).checks
    judged = DocumentResult("file:///model.py", 1, Ruler(["a"] * 40, "utf-16"), checks)
    for check in judged.findings:
        shown = diagnostic(check, judged)
        assert controls(shown.message) == set()
        assert controls(_line(check)) == set()
        assert "\n" not in _line(check)
        assert all(controls(one.message) == set() for one in shown.related_information or ())
    everywhere = types.Range(types.Position(0, 0), types.Position(40, 0))
    for hint in inlay_hints(judged, everywhere):
        assert controls(str(hint.label) + str(hint.tooltip)) == set()


def test_empty_lines_do_not_make_a_report_dear() -> None:
    # Not a clock: a pass over the text, or never an end.
    text = "\n" * 200_000 + "\x1b[0m" * 50_000 + " ::error::x"
    assert without_commands(text) == text.replace("::error", "\\x3a:error")


def test_a_command_is_seen_behind_all_blanks() -> None:
    for blanks in ("", " ", "\t", "\r", "\x0b\x0c", "\u2003", "\n\n ", " \x1b[31m\t"):
        assert without_commands(f"{blanks}::error::x") == f"{blanks}\\x3a:error::x"
