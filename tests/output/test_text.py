"""The text output, by snapshots of hand-made results and by properties that a reader can check by hand."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from syrupy.assertion import SnapshotAssertion

from relax_lint.output.style import Style
from relax_lint.output.text import render_memory, render_text
from relax_lint.results.check import AllocatorFailure, Check, Related
from relax_lint.results.memory_figures import Amount, PlaceOfPeak
from relax_lint.results.report import FileResult, InputStatus, Report
from relax_lint.results.verdict import Prover, Severity, Verdict
from tests.output.builders import LINES, NO_BYTES, failing, fine, overflow, place, report, totals


def quiet(check: Check, lines: dict[int, str]) -> str:
    return render_text(report(check, lines=lines), quiet=True)


def underlined(text: str, sign: str = "^") -> str:
    """What stands above the underline, column by column of an ASCII terminal."""
    for above, row in pairwise(text.splitlines()):
        match = re.search(f"{re.escape(sign)}+", row)
        if "|" in row and match is not None:
            return above[match.start() : match.end()]
    raise AssertionError(f"nothing is underlined in\n{text}")


def test_the_whole_report(snapshot: SnapshotAssertion) -> None:
    check = overflow(
        assumes=("n <= 2048 (tir_var_upper_bound, not enforced)",),
        notes=("bytes, whatever the dtype of the storage says",),
        help=("make the storage as large as the tensor: `R.shape([4*m])`", "two lines\nof help"),
    )
    checks = (check, fine(), fine(rule="RLX102", name="storage-underrun", prover=Prover.INTERVAL))
    assert (
        render_text(report(*checks, memory=(totals(),), notes=("read as TVM 0.23",)), provers=True)
        == snapshot
    )


def test_quiet_leaves_the_findings_alone() -> None:
    whole = report(overflow(), fine(), memory=(totals(),), notes=("a note",))
    assert render_text(whole, quiet=True) == render_text(report(overflow()), quiet=True)
    assert render_text(report(fine(), memory=(totals(),)), quiet=True) == ""


def test_a_clean_file_is_one_line_instead_of_a_table() -> None:
    text = render_text(report(fine(), fine(rule="RLX102", name="storage-underrun")))
    assert text == "ok: 1 operation proved safe\n"


def test_what_is_fine_or_suppressed_is_no_finding() -> None:
    assert "-->" not in render_text(report(fine(), overflow(suppressed=True)))


def test_findings_are_in_the_order_of_the_file() -> None:
    late = overflow(location=place(9, 17, 20))
    early = overflow(location=place(8, 9, 16), related=(), safe_when="m <= 8")
    assert re.findall(r"--> (.*)", render_text(report(late, early))) == ["model.py:8:9", "model.py:9:17"]


def test_places_over_several_lines(snapshot: SnapshotAssertion) -> None:
    lines = {
        7: "        storage = R.memory.alloc_storage(",
        8: "            R.shape([16]),",
        9: "        )",
        15: "        alloc = R.memory.alloc_tensor(",
        16: "            storage, R.shape([m]),",
        17: "        )",
    }
    check = overflow(
        location=place(15, 17, 10, end_line=17),
        related=(Related("storage of 16 bytes", place(7, 19, 10, end_line=9)),),
    )
    assert quiet(check, lines) == snapshot


def test_places_that_cross_and_share_lines(snapshot: SnapshotAssertion) -> None:
    lines = {1: "first = call(", 2: "    one, two,", 3: "); second = other(one)"}
    check = overflow(
        location=place(3, 13, 23),
        related=(Related("opened here", place(1, 9, 2, end_line=3)), Related("used here", place(3, 19, 22))),
    )
    assert quiet(check, lines) == snapshot


def test_the_middle_of_a_very_long_place_is_left_out(snapshot: SnapshotAssertion) -> None:
    lines = {1: "call(", 400: ")"}
    assert quiet(overflow(location=place(1, 1, 2, end_line=400), related=()), lines) == snapshot


def test_underline_is_below_the_place() -> None:
    assert underlined(quiet(overflow(related=()), LINES)) == LINES[9][16:62]


def test_tabs_are_widened_and_the_underline_with_them() -> None:
    lines = {3: "\tx =\tR.memory.alloc_tensor(s)"}
    text = quiet(overflow(location=place(3, 6, 31), related=()), lines)
    assert "\t" not in text
    assert underlined(text) == "R.memory.alloc_tensor(s)"


def test_wide_and_combining_characters_before_the_place() -> None:
    lines = {3: "名前 = 'e\u0301' + R.call(x)"}
    column = lines[3].index("R.call") + 1
    rows = quiet(overflow(location=place(3, column, column + 9), related=()), lines).splitlines()
    # Two characters of two columns each and one of none: one column more than characters.
    assert rows[4].index("^") - len("3 | ") == column - 1 + 2 - 1


def test_control_characters_and_direction_marks_are_written_out() -> None:
    lines = {3: "x = '\x1b[2J\u202e\x07' + y"}
    text = quiet(overflow(location=place(3, 18, 19), message="about `\x1b]0;a\x07`", related=()), lines)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)
    assert r"x = '\x1b[2J\u202e\x07' + y" in text
    assert r"about `\x1b]0;a\x07`" in text


def test_a_place_far_to_the_right_is_shown() -> None:
    lines = {3: "a" * 4000 + " R.call(x) " + "b" * 1000}
    text = quiet(overflow(location=place(3, 4002, 4011), related=()), lines)
    assert underlined(text) == "R.call(x)"
    assert max(map(len, text.splitlines())) < 160
    assert text.splitlines()[3].startswith("3 | ...")
    assert text.splitlines()[3].endswith("b...")


def test_a_place_at_the_end_of_a_long_line_keeps_what_is_before_it() -> None:
    lines = {3: "".join(chr(97 + n % 26) for n in range(300)) + "R.call(x)"}
    row = quiet(overflow(location=place(3, 301, 310), related=()), lines).splitlines()[3]
    assert row == "3 | ..." + lines[3][-120:]


def test_a_place_that_is_wider_than_the_window_is_cut() -> None:
    text = quiet(overflow(location=place(3, 5, 4000), related=()), {3: "x" * 5000})
    assert underlined(text) == "x" * 116


def test_an_empty_place_gets_one_caret() -> None:
    assert "\n  | ^ needs" in quiet(overflow(location=place(3, 1, 1), related=()), {3: ""})


def test_places_elsewhere_are_named() -> None:
    related = (Related("allocated", place(8, 1, 2, path="other.py")), Related("killed", None))
    text = quiet(overflow(related=related), LINES)
    assert "= note: allocated, at other.py:8:1\n" in text
    assert "= note: killed\n" in text


def test_without_text_the_place_in_the_module_is_named() -> None:
    text = quiet(overflow(location=None, related=(), path="model.json"), {})
    assert "--> model.json, in `Module.main`, at `alloc` (binding 1)\n" in text


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        (failing({"m": 5}, {"m": 1025}), "naive fails from m = 5; pooled hides it until m = 1025"),
        (failing({"m": 5}, {"m": 5}), "naive and pooled both fail from m = 5"),
        (failing({"m": 5}, None), "naive fails from m = 5; pooled always hides it"),
        (failing(None, None), "neither naive nor pooled ever fails"),
        (failing({}, {}), "naive and pooled both fail on every input"),
        (failing({}, None), "naive fails on every input; pooled always hides it"),
        (failing({"m": 1, "n": 5}, {"m": 1, "n": 1025}),
         "naive fails at m = 1, n = 5; pooled hides it until m = 1, n = 1025"),
        ({"pooled": AllocatorFailure({"m": 9})}, "pooled fails from m = 9"),
        ({"naive": AllocatorFailure({"m": 5}), "pooled": AllocatorFailure(None, known=False)},
         "naive fails from m = 5; pooled fails for unknown inputs"),
        ({"naive": AllocatorFailure(None, known=False), "pooled": AllocatorFailure(None, known=False)},
         "the first failure on naive and pooled is unknown"),
    ],
)  # fmt: skip
def test_allocators(failures: dict[str, AllocatorFailure], expected: str) -> None:
    assert f"= safe iff m <= 4; {expected}\n" in quiet(overflow(allocators=failures), LINES)


def test_an_undecided_check_shows_the_examples() -> None:
    check = overflow(safe_when=None, undecided=True, allocators={}, notes=("undecided: out of steps",))
    text = quiet(check, LINES)
    assert "= verdict: needs-runtime-check (undecided)\n" in text
    assert "= fine for m = 4, wrong for m = 5\n" in text


def test_a_block_that_cannot_be_analysed_has_no_verdict_on_memory(snapshot: SnapshotAssertion) -> None:
    check = overflow(
        rule="RLX901",
        name="parse-error",
        verdict=Verdict.ALWAYS_WRONG,
        severity=Severity.ERROR,
        message="syntax error: '(' was never closed",
        label="",
        location=place(8, 41, 42),
        related=(),
        safe_when=None,
        allocators={},
        notes=("what TVM says",),
    )
    assert quiet(check, LINES) == snapshot


def test_colour_only_adds_escape_sequences() -> None:
    lines = {8: "s = call(", 9: ")", **{n: f"line {n}" for n in (10, 11)}}
    check = overflow(location=place(10, 1, 5), related=(Related("storage", place(8, 5, 2, end_line=9)),))
    whole = report(check, fine(), memory=(totals(),), lines=lines)
    painted = render_text(whole, Style(color=True), provers=True)
    assert "\x1b[1;33mwarning[RLX101]\x1b[0m" in painted
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == render_text(whole, provers=True)


def test_the_share_decided_is_never_rounded_up() -> None:
    text = render_text(report(overflow(), *[fine()] * 1999))
    assert "2,000 checks in 1 function, 99.9 % proved" in text


def test_memory_of_constant_and_symbolic_parts(snapshot: SnapshotAssertion) -> None:
    mixed = totals(
        unplanned_static_count=2,
        unplanned_static_bytes=3 << 20,
        planned_static_count=0,
        planned_static_bytes=0,
        planned_dynamic_count=2,
        planned_dynamic_bytes=None,
        peak_live=Amount("5368709121", 5368709121),
        peak_at=PlaceOfPeak("alloc", None),
        reserved={"naive": Amount("Max(4*m, 16)", None), "pooled": None},
    )
    assert render_memory(report(memory=(mixed, totals(function="other")))) == snapshot


def test_functions_that_allocate_nothing_are_listed_only_on_demand() -> None:
    nothing = totals(
        function="other", unplanned_dynamic_count=0, unplanned_dynamic_bytes=NO_BYTES,
        planned_static_count=0, planned_static_bytes=0,
    )  # fmt: skip
    whole = report(fine(), memory=(nothing, totals()))
    assert re.findall(r"memory of (\S+)", render_text(whole)) == ["Module.main"]
    assert re.findall(r"memory of (\S+)", render_memory(whole)) == ["Module.other", "Module.main"]


def test_only_the_configured_allocators_are_reported() -> None:
    assert "naive" not in render_memory(report(memory=(totals(),)), allocators=("pooled",))


@pytest.mark.parametrize(("inputs", "words"), [(1, "1 input"), (2, "2 inputs")])
def test_nothing_to_judge_is_said(inputs: int, words: str) -> None:
    files = tuple(FileResult(InputStatus(f"{n}.py", 0, "skipped")) for n in range(inputs))
    assert (
        render_text(Report(files, None))
        == render_memory(Report(files, None))
        == f"no Relax function in {words}\n"
    )


def test_findings_that_one_condition_decides_are_shown_once() -> None:
    checks = [overflow(binding=f"alloc{i}", safe_when="m <= 4") for i in range(12)]
    shown = render_text(report(*checks, overflow(binding="other", safe_when="n <= 4")), quiet=True)
    assert shown.count("-->") == 2
    # The first is shown in full, eight more are named, and the rest are counted.
    (others,) = [line for line in shown.splitlines() if "the same condition decides" in line]
    assert [f"`alloc{i}`" in others for i in range(12)] == [False, *[True] * 8, *[False] * 3]
    assert others.endswith("3 more")


def test_findings_without_a_condition_are_each_shown() -> None:
    checks = [overflow(binding=f"alloc{i}", safe_when=None) for i in range(3)]
    assert render_text(report(*checks), quiet=True).count("-->") == 3
