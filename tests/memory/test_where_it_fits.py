"""For which values of one symbol something fits, in words: against every value."""

from __future__ import annotations

import re

import pytest
import sympy

from relax_lint.facts.fitting import MAX_SHOWN, MAX_TRIED, Span, bracket, bracketed, solution, solved
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.functions import FloorMod
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.pool_limits import PoolLimits

N, M = sympy.symbols("n m", integer=True)
SPAN = Span(N, 3, 40)
WIDE = Span(N, 0, 10 * MAX_TRIED)
_RUN = re.compile(r"n (?:<= (\d+)|= (\d+)(?:\.\.(\d+))?)")


def _values(text: str) -> set[int]:
    """The values of a sentence."""
    found: set[int] = set()
    for upper, one, last in _RUN.findall(text.partition(";")[0].replace(",", "")):
        found |= set(range(SPAN.low, int(upper) + 1) if upper else range(int(one), int(last or one) + 1))
    return found


CONDITIONS = [
    N <= 10,
    N < 10,
    N >= 10,
    N > 39,
    N <= 3,
    sympy.Eq(N, 7),
    sympy.Ne(N, 7),
    sympy.And(N >= 5, N <= 9),
    sympy.Or(N <= 4, N >= 38),
    sympy.Or(N <= 4, sympy.Eq(N, 6), sympy.Eq(N, 8)),
    sympy.Or(N <= 4, sympy.Eq(N, 5), sympy.Eq(N, 6)),
    sympy.Or(sympy.Eq(N, 4), sympy.Eq(N, 6), sympy.Eq(N, 8), sympy.Eq(N, 10)),
    sympy.Or(sympy.And(N >= 10, N <= 12), sympy.And(N >= 14, N <= 20), sympy.Eq(N, 40)),
    sympy.Eq(FloorMod(N, 13), 0),
    3 * N + 1 <= 50,
    N**2 <= 200,
    5 * N <= 3 * N + 20,
]


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_what_is_said_are_the_values(condition: sympy.Basic) -> None:
    holds = compile_condition(condition, (N,))
    fitting = {n for n in range(SPAN.low, SPAN.high + 1) if holds(n)}
    for text in (solved(condition, SPAN), solution(condition, SPAN)):
        assert text is not None
        assert _values(text) == fitting
    first = re.search(r"first over budget: n = (\d+)$", solution(condition, SPAN) or "")
    assert first is not None
    assert int(first[1]) == min(set(range(SPAN.low, SPAN.high + 1)) - fitting)


def test_all_values_and_none() -> None:
    assert solved(sympy.true, SPAN) == "every n"
    assert solved(sympy.false, SPAN) == "no n"
    assert solved(sympy.Eq(N, 7, evaluate=False).subs(N, 7), SPAN) == "every n"
    assert solved(sympy.Lt(4, 3, evaluate=False), SPAN) == "no n"
    assert solved(N <= 40, SPAN) == solved(N >= 3, SPAN) == "every n <= 40"
    assert solved(N <= 4000, Span(N, 0, 4000)) == "every n <= 4,000"
    assert solved(N <= 2, SPAN) == solved(N > 40, SPAN) == "no n"
    assert [solution(one, SPAN) for one in (sympy.true, N <= 40, N <= 2, N <= M)] == [None] * 4
    assert solved(N <= M, SPAN) is None
    assert solved(M <= 7, SPAN) is None


def test_a_sentence_lists_some_runs() -> None:
    few = sympy.Or(*(sympy.Eq(N, 5 * n) for n in range(1, MAX_SHOWN + 1)))
    many = sympy.Or(*(sympy.Eq(N, 5 * n) for n in range(1, MAX_SHOWN + 2)))
    assert (solved(few, SPAN) or "").count("n = ") == MAX_SHOWN
    assert (solution(few, SPAN) or "").count("n = ") == MAX_SHOWN + 1
    assert solved(many, SPAN) is solution(many, SPAN) is None


def test_too_many_values_are_not_tried_but_what_grows_crosses_a_limit_once() -> None:
    assert solved(N**2 <= 10**6, WIDE) == "n <= 1000"
    assert solved(N**2 < 10**6, WIDE) == "n <= 999"
    assert solved(N**2 >= 10**6, WIDE) is None
    assert solved(sympy.Eq(FloorMod(N, 7), 0), WIDE) is None
    assert solved(3 * N - N**2 <= 4, WIDE) is None
    last = Span(N, 5, 5 + MAX_TRIED)
    assert solved(FloorMod(N, MAX_TRIED) <= 7, last) is None
    assert (
        solved(FloorMod(N, MAX_TRIED) <= 7, Span(N, 5, 4 + MAX_TRIED))
        == f"n <= 7 and n = {MAX_TRIED}..{MAX_TRIED + 4}"
    )


def test_between_limits() -> None:
    assert bracket(10, 20, SPAN) == "fits up to n = 10; fails from 20"
    assert bracket(3, 40, SPAN) == "fits up to n = 3; fails from 40"
    assert bracket(2, 20, SPAN) == "may fit below n = 20; fails from 20"
    assert bracket(10, 41, SPAN) == "fits up to n = 10"
    assert bracket(1000, 2000, Span(N, 0, 4000)) == "fits up to n = 1,000; fails from 2,000"


def test_what_may_shrink_has_no_bracket() -> None:
    for least, most in ((8 * N, 8 * N - N**2), (8 * N - N**2, 8 * N)):
        found = bracketed(PoolLimits(least, most), 50, SPAN, lambda n: 8 * n)
        assert isinstance(found, Unknown)
        assert "may shrink" in found.reason


@pytest.mark.parametrize("budget", [20, 24, 100, 160, 250, 320, 400])
def test_what_is_measured_between_the_limits_decides(budget: int) -> None:
    sizes = {n: 8 * n - (n % 3) for n in range(60)}
    found = bracketed(PoolLimits(6 * N, 8 * N), budget, SPAN, sizes.__getitem__)
    holds = compile_condition(found, (N,))
    for n in range(SPAN.low, SPAN.high + 1):
        assert holds(n) == (sizes[n] <= budget), n
    unknown = bracketed(PoolLimits(6 * N, 8 * N), budget, SPAN, lambda n: None)
    between = [n for n in range(SPAN.low, SPAN.high + 1) if 6 * n <= budget < 8 * n]
    assert isinstance(unknown, Unknown) == bool(between)
    assert isinstance(
        bracketed(PoolLimits(6 * N, 8 * N), budget, SPAN, sizes.__getitem__, 0), Unknown
    ) == bool(between)
