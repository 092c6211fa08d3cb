"""Text on a terminal keeps to its columns, and loses nothing by it; links and pages are for terminals too."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from relax_lint.cli import main
from relax_lint.commands.surroundings import shows_links
from relax_lint.output.markdown import terminal_text
from relax_lint.output.page import page_text
from relax_lint.output.style import Style
from relax_lint.output.text import render_text
from relax_lint.output.wrapping import fold, visible_width
from relax_lint.results.check import Edit, Fix, Related
from relax_lint.results.report import Report
from relax_lint.rule import load_rules
from tests.output.builders import LINES, fine, overflow, place, report, totals

ESCAPES = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\")
LONG = "n" * 70


def judged() -> Report:
    edit = Edit(place(9, 9, 9), "R.assert_op(" + "m <= 4, " * 12)
    check = overflow(
        message="the tensor `alloc` needs many more bytes than there are in the storage, for " + LONG,
        label="needs `4*m` bytes, which is more than 16 as soon as `m` is greater than 4",
        related=(Related("a long place", place(8, 5, 10, end_line=9)), Related("far away", None)),
        notes=("what is known besides: " + "a great deal of it, " * 8,),
        fixes=(Fix("check the size", "safe", (edit,)),),
        path="folder/" * 12 + "model.py",
        safe_when="m <= 3",
    )
    here = overflow(label=check.label, notes=check.notes, fixes=check.fixes)
    return report(here, check, fine(), memory=(totals(),), lines=LINES, notes=("a note " * 30,))


@pytest.mark.parametrize("columns", [40, 41, 57, 80, 120, 200])
@pytest.mark.parametrize("color", [False, True])
def test_no_line_is_wider_than_the_terminal(columns: int, color: bool) -> None:
    text = render_text(judged(), Style(color, columns, links=color), provers=True)
    for line in text.splitlines():
        assert visible_width(line) <= columns or "--> " in line, line
    # An underline stands below what it underlines, in one piece.
    plain = ESCAPES.sub("", text).splitlines()
    underlined = [index for index, line in enumerate(plain) if re.match(r" *\| [ |]*\^+( |$)", line)]
    assert underlined
    for index in underlined:
        start = plain[index].index("^")
        quoted = next(line for line in reversed(plain[:index]) if re.match(r"[0-9]+ \|", line))
        assert quoted[start:].startswith(("R.memory", "..."))


def test_what_is_folded_is_all_there() -> None:
    plain, narrow = (
        re.sub(r"\s|\||\.\.\.", "", ESCAPES.sub("", render_text(judged(), Style(columns=columns))))
        for columns in (None, 60)
    )
    for words in ("agreatdealofit," * 8, LONG, "R.assert_op(" + "m<=4," * 12, "anote" * 30):
        assert plain.count(words) == narrow.count(words) > 0


def test_a_coloured_line_folds_like_a_plain_one() -> None:
    plain = "  = note: some words that are more than fit"
    painted = plain.replace("note", "\x1b[1mnote\x1b[0m").replace(
        "words", "\x1b]8;;file:///a\x1b\\words\x1b]8;;\x1b\\"
    )
    folded = fold(painted, 20)
    assert [ESCAPES.sub("", line) for line in folded] == fold(plain, 20)
    assert fold(plain, 20) == [
        "  = note: some words",
        "          that are",
        "          more than",
        "          fit",
    ]
    assert "".join(folded).count("\x1b") == painted.count("\x1b")


PAGE = """\
# A title

One paragraph of words
in two lines with `code` and [a page](other.md#part) and [a gone one](../../docs/gone.md).

| what | meaning |
|---|---|
| `a` | many words that do not fit into one line |

1. first
- second item of some length, which goes on and on

```python
def a_line_that_is_longer_than_the_terminal_is_wide() -> None: ...
```
"""


def test_a_page_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "other.md").touch()
    address = (tmp_path / "other.md").resolve().as_uri() + "#part"
    shown = terminal_text(PAGE, Style(columns=40), tmp_path)
    assert address in re.sub(r"\s", "", shown)
    linked = terminal_text(PAGE, Style(True, 40, True), tmp_path)
    assert f"\x1b]8;;{address}\x1b\\a page\x1b]8;;\x1b\\" in linked.replace("\n", " ")
    lines = ESCAPES.sub("", linked).splitlines()
    assert lines == [
        "A title",
        "",
        "One paragraph of words in two lines with",
        "code and a page and a gone one",
        "(docs/gone.md).",
        "",
        "  what  meaning",
        "  ----  --------------------------------",
        "  a     many words that do not fit into",
        "        one line",
        "",
        "1. first",
        "- second item of some length, which goes",
        "  on and on",
        "",
        "    def a_line_that_is_longer_than_the_terminal_is_wide() -> None: ...",
    ]


def test_a_page_without_a_terminal_is_its_markdown(tmp_path: Path) -> None:
    assert page_text(PAGE, Style(), tmp_path) == PAGE


def test_every_page_can_be_shown() -> None:
    for rule in load_rules().values():
        text = rule.page.read_text(encoding="utf-8")
        shown = ESCAPES.sub("", page_text(text, Style(True, 72), rule.page.parent))
        for line in shown.splitlines():
            assert visible_width(line) <= 72 or line.startswith("    ") or "://" in line, line
        assert f"{rule.code} {rule.name}" in shown


def test_the_rules_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--output-format", "json"]) == 0
    rules = json.loads(capsys.readouterr().out)
    assert [rule["code"] for rule in rules] == [*load_rules()]
    (overflowing,) = [rule for rule in rules if rule["name"] == "storage-overflow"]
    assert overflowing["fix"] == "sometimes" or overflowing["fix"] == "always"
    assert overflowing["severity"]["needs-runtime-check"] == "warning"
    assert overflowing["page"].startswith("# RLX101 storage-overflow\n")


@pytest.mark.parametrize(
    ("variables", "shown"),
    [
        ({}, False),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"VTE_VERSION": "7006"}, True),
        ({"VTE_VERSION": "3405"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-kitty", "CI": "true"}, False),
        ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, False),
        ({"CI": "true", "FORCE_HYPERLINK": "1"}, True),
    ],
)
def test_which_terminals_show_links(
    variables: dict[str, str], shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.environ", variables)
    assert shows_links() == shown
