"""Two lists of totals: which functions are the same one, and what is said of each figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from relax_lint.totals.compared_maxima import Bounds
from relax_lint.totals.comparison import (
    Change,
    Comparison,
    FunctionTotals,
    Subject,
    compare,
    function_totals,
    parsed_formula,
)

HALF = Fraction(1, 2)
SAME = (
    *("planned.dynamic_bytes", "peak_live", "reserved.naive", "reserved.pooled"),
    *("repeated.naive", "repeated.pooled"),
)


def totals(
    planned: str | None,
    *,
    path: str = "a.py",
    name: str | None = "main",
    module: str | None = "Module",
    unknown: tuple[str, ...] = (),
    at: dict[str, int] | None = None,
    static: int = 0,
    over_range: Mapping[str, tuple[int, bool, Bounds]] | None = None,
    symbols: Mapping[str, tuple[int | None, int | None]] | None = None,
) -> FunctionTotals:
    """Those of a function of which every figure is one formula."""
    return function_totals(
        Subject(path, module, name),
        {
            **dict.fromkeys(("unplanned.dynamic_bytes", "lower_bound", "constants.bytes"), "0"),
            **dict.fromkeys(SAME, planned),
            "parameters.bytes": "8",
        },
        {"planned": static},
        frozenset(unknown),
        at or {},
        over_range,
        symbols or {},
    )


def compared(
    old: list[FunctionTotals], new: list[FunctionTotals], limit: Fraction | None = None, **at: int
) -> Comparison:
    return compare("old.json", old, new, limit, at)


def of(found: Comparison, figure: str = "planned", name: str | None = "main") -> Change:
    (change,) = (one for one in found.changes if one.total == figure and one.subject.name == name)
    return change


@pytest.mark.parametrize(
    ("old", "new", "limit", "exceeds", "growth"),
    [
        ("100", "150", HALF, False, HALF),
        ("100", "151", HALF, True, Fraction(51, 100)),
        ("100", "50", HALF, False, -HALF),
        ("100", "900", None, False, 8),
        ("0", "1", HALF, True, None),
        ("4*n", "6*n", HALF, False, None),
        ("4*n", "7*n", HALF, True, None),
        ("4*n + 2", "4*n + 3", HALF, False, None),
        ("4*n", "4*m", HALF, True, None),
        ("4*n", None, HALF, True, None),
        ("4*n", None, None, False, None),
        (None, "4*n", HALF, False, None),
        ("4*n", "what is this?", HALF, True, None),
        ("what is this?", "4*n", HALF, True, None),
    ],
)
def test_one_figure(
    old: str | None, new: str | None, limit: Fraction | None, exceeds: bool, growth: Fraction | None
) -> None:
    found = compared([totals(old)], [totals(new)], limit)
    change = of(found)
    assert (change.exceeds, change.growth) == (exceeds, growth)
    assert found.exceeds is exceeds
    assert (change.old == "not known", change.new == "not known") == (old is None, new is None)


def test_what_is_equal_at_a_binding_has_not_changed() -> None:
    assert compared([totals("4*n")], [totals("4*n")]).changes == ()
    assert compared([totals("4*n")], [totals("n*n")], n=4).changes == ()
    found = compared([totals("4*n")], [totals("n*n")], HALF, n=5)
    assert (of(found).old, of(found).new, of(found).exceeds) == (20, 25, False)
    assert of(compared([totals("4*n")], [totals("n*n")], HALF, n=7)).exceeds


def test_planned_is_the_sum_of_both_kinds() -> None:
    found = compared([totals("4*n", static=10)], [totals("4*n", static=11)])
    assert (of(found).old, of(found).new) == ("4*n + 10", "4*n + 11")
    assert of(compared([totals("5", static=10)], [totals("6", static=10)])).old == 15
    assert of(compared([totals("4*n")], [totals("5*n")])).old == "4*n"
    assert {change.total for change in found.changes} == {"planned"}


def test_all_functions_together() -> None:
    old = [totals("100", name="f"), totals("4*n", name="g")]
    found = compared(old, [totals("100", name="f"), totals("4*n + 8", name="g")])
    together = of(found, name=None)
    assert (together.old, together.new) == ("4*n + 100", "4*n + 8 + 100")
    assert {change.subject.name for change in found.changes} == {"g", None}
    lost = compared(old, [totals("100", name="f"), totals(None, name="g")])
    assert of(lost, name=None).new == "not known"
    # Of one function on both sides nothing is said twice.
    assert all(change.subject.name for change in compared([totals("1")], [totals("2")]).changes)
    assert of(compared(old, [totals("100", name="f")]), name=None).new == "100"


def test_which_function_is_which() -> None:
    old = [totals("1", name="f"), totals("2", name="g"), totals("3", name="h", path="b.py")]
    new = [totals("1", name="f"), totals("5", name="h", path="c.py"), totals("4", name="k")]
    found = compared(old, new)
    assert [subject.name for subject in found.added] == ["k"]
    assert [subject.name for subject in found.removed] == ["g"]
    moved = of(found, name="h")
    assert (moved.subject.path, moved.old, moved.new) == ("c.py", 3, 5)
    # One of two that could be meant is not guessed, and one that is still there has not moved.
    both = [totals("3", path="b.py"), totals("4", path="c.py")]
    assert len(compared(both, [totals("5", path="d.py")]).added) == 1
    assert [s.path for s in compared([both[0]], [both[0], totals("9", path="d.py")]).added] == ["d.py"]
    other = totals("9", module="Another", path="d.py")
    assert len(compared([both[0]], [other]).added) == 1


def test_functions_of_one_name_are_told_apart_by_their_order() -> None:
    found = compared([totals("1"), totals("2"), totals("3")], [totals("1"), totals("2"), totals("5")])
    assert of(found, name="main#3").old == 3
    assert not [change for change in found.changes if change.subject.name in ("main", "main#2")]


def test_what_held_at_another_binding_only_is_not_known() -> None:
    old = totals("100", unknown=("planned.dynamic_bytes",), at={"n": 1})
    assert of(compared([old], [totals("100")], HALF, n=2)).old == "not known"
    assert compared([old], [totals("100", at={"n": 1})], HALF, n=1).changes == ()


def test_formulas_that_are_none() -> None:
    assert parsed_formula("1 +") is None
    assert parsed_formula("4*n") is not None


def bounded(
    planned: str, top: int | None, largest: int, *, is_limit: bool = False, **asked: int
) -> FunctionTotals:
    """A function with a declared bound of `n`, and a largest value there or in the range that was asked for."""
    high = asked.get("asked", top)
    over = {} if high is None else {"peak_live": (largest, is_limit, (("n", 0, high),))}
    return totals(planned, over_range=over, symbols={"n": (None, top)})


def test_largest_values_where_no_formula_changes() -> None:
    old = bounded("4*n", 1000, 4000)
    assert compared([old], [bounded("4*n", 1000, 4000)]).changes == ()
    found = compared([old], [bounded("4*n", 1500, 6000)], HALF)
    assert [change.total for change in found.changes] == ["peak_live.maximum"]
    raised = of(found, "peak_live.maximum")
    assert (raised.old, raised.new, raised.growth, raised.exceeds) == (4000, 6000, HALF, False)
    assert compared([old], [bounded("4*n", 1501, 6004)], HALF).exceeds
    lowered = of(compared([old], [bounded("4*n", 500, 2000)], HALF), "peak_live.maximum")
    assert (lowered.growth, lowered.exceeds) == (-HALF, False)


def test_a_bound_that_is_gone_or_new() -> None:
    old, without = bounded("4*n", 1000, 4000), bounded("4*n", None, 0)
    gone = of(compared([old], [without], HALF), "peak_live.maximum")
    assert (gone.old, gone.new, gone.exceeds) == (4000, "not known", True)
    new = of(compared([without], [old], HALF), "peak_live.maximum")
    assert (new.old, new.new, new.exceeds) == ("not known", 4000, False)
    assert compared([without], [without], HALF).changes == ()


def test_largest_values_of_other_ranges_are_not_compared() -> None:
    old = bounded("4*n", 1000, 4000)
    assert compared([old], [bounded("4*n", 1000, 8000, asked=2000)], HALF).changes == ()
    both = [bounded("4*n", 1000, largest, asked=2000) for largest in (8000, 9000)]
    assert of(compared(both[:1], both[1:], HALF), "peak_live.maximum").new == 9000
    # What is never exceeded need not be reached.
    assert compared([old], [bounded("4*n", 1500, 9000, is_limit=True)], HALF).changes == ()
    # An earlier release has not written them.
    assert compared([totals("4*n")], [old], HALF).changes == ()
    # At other values of other symbols.
    assert compared([old], [replace(bounded("4*n", 1500, 6000), at={"m": 1})], HALF).changes == ()


def test_a_total_that_is_mostly_another_one_is_told_where_it_is_not() -> None:
    names = {change.total for change in compared([totals("1")], [totals("2")]).changes}
    assert names == {"planned", "peak_live", "reserved.naive", "reserved.pooled"}
    one, two = (
        replace(totals("1"), formulas={**totals("1").formulas, "repeated.naive": f"{more}"})
        for more in (2, 3)
    )
    assert [change.total for change in compared([one], [two]).changes] == ["repeated.naive"]


def test_what_one_report_was_not_asked_for_is_not_compared() -> None:
    one = totals("1")
    two = replace(one, formulas={**one.formulas, "workspaces.held": "100"})
    assert compared([one], [two], HALF).changes == compared([two], [one], HALF).changes == ()
