"""Two lists of totals: which functions are the same one, and what is said of each figure."""

from __future__ import annotations

from fractions import Fraction

import pytest

from relax_lint.totals.comparison import (
    FIGURES,
    Change,
    Comparison,
    FunctionTotals,
    Subject,
    compare,
    formulas,
    parsed_formula,
)

HALF = Fraction(1, 2)


def totals(
    planned: str | None,
    *,
    path: str = "a.py",
    name: str | None = "main",
    module: str | None = "Module",
    unknown: tuple[str, ...] = (),
    at: dict[str, int] | None = None,
    static: int = 0,
) -> FunctionTotals:
    """Those of a function of which every figure is one formula."""
    figures = formulas(
        planned_static=static,
        planned_dynamic=planned,
        peak_live=planned,
        naive=planned,
        pooled=planned,
        parameters="8",
        constants="0",
    )
    return FunctionTotals(Subject(path, module, name), figures, frozenset(unknown), at or {})


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
    assert {change.total for change in found.changes} == {FIGURES[0]}


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
    old = totals("100", unknown=("planned",), at={"n": 1})
    assert of(compared([old], [totals("100")], HALF, n=2)).old == "not known"
    assert compared([old], [totals("100", at={"n": 1})], HALF, n=1).changes == ()


def test_formulas_that_are_none() -> None:
    assert parsed_formula("1 +") is None
    assert parsed_formula("4*n") is not None
