"""The values of one size that keep to a budget, in words and as a condition, against each value."""

from __future__ import annotations

import re

import pytest
import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.facts.fitting import MAX_TRIED, Span, bracket, bracketed, last_that_fits, solution, solved
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.functions import FloorDiv, FloorMod
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.pool_limits import PoolLimits

N, M = (sympy.Symbol(name, integer=True) for name in "nm")
SPAN = Span(N, 3, 60)
CONDITIONS = {
    sympy.Le(N, 20): "n <= 20",
    sympy.Lt(N, 20): "n <= 19",
    sympy.Ge(N, 20): "n = 20..60",
    sympy.Gt(N, 20): "n = 21..60",
    sympy.Le(N, 2): "no n",
    sympy.Le(N, 3): "n <= 3",
    sympy.Ge(N, 61): "no n",
    sympy.Ge(N, 60): "n = 60",
    sympy.Le(N, 60): "every n <= 60",
    sympy.Ge(N, 3): "every n <= 60",
    sympy.Eq(N, 7): "n = 7",
    sympy.Ne(N, 7): "n <= 6 and n = 8..60",
    sympy.Or(sympy.Le(N, 10), sympy.Eq(N, 12)): "n <= 10 and n = 12",
    sympy.Or(sympy.Le(N, 10), sympy.Eq(N, 11)): "n <= 11",
    sympy.Or(sympy.Le(N, 10), sympy.And(sympy.Ge(N, 12), sympy.Le(N, 14))): "n <= 10 and n = 12..14",
    sympy.And(sympy.Ge(N, 5), sympy.Le(N, 5)): "n = 5",
    sympy.Le(4 * FloorDiv(N + 3, 4), 20): "n <= 20",
    sympy.Le(N**2, 400): "n <= 20",
    sympy.Le(N * (60 - N), 171): "n <= 3 and n = 57..60",
    sympy.Le(FloorMod(N, 32), 3): "n <= 3 and n = 32..35",
    sympy.true: "every n",
    sympy.false: "no n",
    sympy.Le(M, 3): None,
    sympy.Le(N + M, 3): None,
    sympy.Le(FloorMod(N, 10), 0): None,
}


def _kept(condition: Boolean, span: Span) -> list[int]:
    holds = compile_condition(condition, (N,))
    return [n for n in range(span.low, span.high + 1) if holds(n)]


def _meant(text: str, span: Span) -> list[int]:
    """The values that a sentence names."""
    found: set[int] = set()
    if text.startswith("no "):
        return []
    for part in text.split(" and "):
        numbers = [int(number.replace(",", "")) for number in re.findall(r"[\d,]+", part)]
        low = span.low if "<=" in part or "every" in part else numbers[0]
        found.update(range(low, (numbers[-1] if numbers else span.high) + 1))
    return sorted(found)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_values_in_words(condition: Boolean) -> None:
    text = CONDITIONS[condition]
    assert solved(condition, SPAN) == text
    if text is not None:
        assert _meant(text, SPAN) == _kept(condition, SPAN)


@pytest.mark.parametrize(
    "condition", [c for c, text in CONDITIONS.items() if text is not None and "<=" in text]
)
def test_the_first_value_over_budget(condition: Boolean) -> None:
    text = solution(condition, SPAN)
    kept = _kept(condition, SPAN)
    if len(kept) == SPAN.high - SPAN.low + 1:
        assert text is None
        return
    assert text is not None
    fitting, first = text.removeprefix("fits for ").split("; first over budget: n = ")
    assert _meant(fitting, SPAN) == kept
    assert int(first) == next(n for n in range(SPAN.low, SPAN.high + 1) if n not in kept)


def test_what_starts_over_budget() -> None:
    assert solution(sympy.Ge(N, 20), SPAN) == "fits for n = 20..60; first over budget: n = 3"
    assert solution(sympy.Le(N, 2), SPAN) is None


def test_large_ranges_are_searched_where_the_size_grows() -> None:
    large = Span(N, 1, 4 * MAX_TRIED)
    assert solved(sympy.Le(4 * FloorDiv(N + 3, 4), 70_001), large) == "n <= 70000"
    assert solved(sympy.Lt(N**2, 10**8), large) == "n <= 9999"
    assert solved(sympy.Le(N**2 + 4, 4), large) == "no n"
    assert solved(sympy.Le(FloorMod(N, 7), 3), large) is None
    assert solved(sympy.Ge(N**2, 10**8), large) is None
    assert solved(sympy.Le(N, 70_001), large) == "n <= 70001"


def test_the_last_value_of_a_size_that_grows() -> None:
    for budget in range(0, 300, 7):
        expected = max((n for n in range(3, 61) if 4 * n + 1 <= budget), default=2)
        assert last_that_fits(4 * N + 1, budget, SPAN) == expected
    assert last_that_fits(8, 8, SPAN) == 60
    assert last_that_fits(9, 8, SPAN) == 2


def test_the_bracket_in_words() -> None:
    assert bracket(10, 20, SPAN) == "fits up to n = 10; fails from 20"
    assert bracket(3, 61, SPAN) == "fits up to n = 3"
    assert bracket(2, 20, SPAN) == "may fit below n = 20; fails from 20"
    assert bracket(2000, 3000, Span(N, 0, 5000)) == "fits up to n = 2,000; fails from 3,000"


@pytest.mark.parametrize("budget", [0, 11, 12, 60, 79, 80, 100, 240, 241, 1000])
@pytest.mark.parametrize("low", [0, 3])
def test_between_the_limits_each_value_is_measured(budget: int, low: int) -> None:
    def exact(n: int) -> int:
        return 4 * n + (8 if n % 3 == 0 else 0)

    span = Span(N, low, 60)
    limits = PoolLimits(least=4 * N, most=4 * N + 8)
    condition = bracketed(limits, budget, span, exact)
    assert not isinstance(condition, Unknown)
    kept = [n for n in range(low, 61) if exact(n) <= budget]
    assert _kept(condition, span) == kept
    if low:
        # Nothing is said of values below the range: it may be a bound that is only declared.
        below = compile_condition(condition, (N,))
        assert not kept or not any(below(n) for n in range(low))


def test_what_cannot_be_measured_is_a_bracket() -> None:
    limits = PoolLimits(least=4 * N, most=4 * N + 40)
    few = bracketed(limits, 80, SPAN, lambda n: 4 * n, 9)
    assert isinstance(few, Unknown)
    assert few.reason == "it fits up to n = 10; fails from 21"
    assert not isinstance(bracketed(limits, 80, SPAN, lambda n: 4 * n, 10), Unknown)
    lost = bracketed(limits, 80, SPAN, lambda n: None if n == 15 else 4 * n)
    assert isinstance(lost, Unknown)
    shrinks = bracketed(PoolLimits(least=4 * N, most=100 - N), 80, SPAN, lambda n: 4 * n)
    assert isinstance(shrinks, Unknown)
    assert "shrink" in shrinks.reason
    assert isinstance(bracketed(PoolLimits(least=100 - N, most=4 * N), 80, SPAN, lambda n: 4 * n), Unknown)
