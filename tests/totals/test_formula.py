"""Sums and maxima of sizes, against their values."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import pytest
import sympy

from relax_lint.symbolic.functions import FloorDiv
from relax_lint.totals import formula
from relax_lint.totals.formula import Sizes, is_never_negative, maximum, reaches, undominated

N, M = sympy.symbols("n m", integer=True)
BOTH = frozenset({N, M})
EXPRS = (
    sympy.Integer(0),
    sympy.Integer(7),
    N,
    M,
    4 * N,
    N**2,
    N * M,
    N**2 + M,
    3 * N + 5,
    2 * N * M + 1,
    N - 3,
    N - M,
    16 * FloorDiv(N + 15, 16),
    sympy.Max(N, M),
    sympy.Max(N - 3, 0),
    sympy.Min(N, 4) * M,
    sympy.Min(N - 3, M),
    FloorDiv(N - 2, 2),
    sympy.Integer(-2),
)


@cache
def _values(expr: sympy.Expr, low: int = 0) -> list[int]:
    return [int(expr.subs({N: n, M: m})) for n, m in product(range(low, 8), repeat=2)]


@pytest.mark.parametrize("upper", EXPRS, ids=str)
def test_what_reaches_another_is_nowhere_less(upper: sympy.Expr) -> None:
    for lower in EXPRS:
        if reaches(upper, lower, BOTH):
            assert all(a >= b for a, b in zip(_values(upper), _values(lower), strict=True)), lower
        if reaches(upper, lower, frozenset()):
            assert all(a >= b for a, b in zip(_values(upper, -4), _values(lower, -4), strict=True)), lower


@pytest.mark.parametrize(
    ("upper", "lower"),
    [
        (N**2, N),
        (4 * N, N),
        (N**2 + M, M),
        (N * M + 7, sympy.Integer(7)),
        (2 * N * M + 1, N * M),
        (N**2 + N, 2 * N),
        (N, N),
    ],
    ids=str,
)
def test_what_plainly_reaches_another_is_seen_to(upper: sympy.Expr, lower: sympy.Expr) -> None:
    assert reaches(upper, lower, BOTH)
    assert upper == lower or not reaches(lower, upper, BOTH)


@pytest.mark.parametrize("expr", EXPRS, ids=str)
def test_what_is_never_negative(expr: sympy.Expr) -> None:
    if is_never_negative(expr, BOTH):
        assert min(_values(expr)) >= 0
    if is_never_negative(expr, frozenset()):
        assert min(_values(expr, low=-4)) >= 0


def test_signs_are_seen_in_each_kind_of_expression() -> None:
    fine = (N, N + M, 3 * N * M, sympy.Min(N, M), FloorDiv(N, 4), sympy.Max(N - 3, 0), N**2, sympy.Integer(0))
    assert [expr for expr in fine if not is_never_negative(expr, BOTH)] == []
    unknown = (N - M, sympy.Min(N - 3, M), FloorDiv(N - 2, 2), sympy.Max(N - 3, M - 2), sympy.Integer(-1))
    assert [expr for expr in unknown if is_never_negative(expr, BOTH)] == []


def test_a_maximum_has_the_greatest_value_everywhere() -> None:
    chance = random.Random(3)
    for _ in range(60):
        chosen = chance.sample(EXPRS, 3)
        found = maximum(chosen, BOTH)
        expected = [max(values) for values in zip(*map(_values, chosen), strict=True)]
        assert _values(found) == expected, chosen


def test_sums_that_another_exceeds_are_left_out() -> None:
    assert undominated([(1, 0), (2, 0), (0, 1), (2, 1)]) == [(2, 1)]
    assert sorted(undominated([(1, 0), (0, 1), (1, 0)])) == [(0, 1), (1, 0)]
    assert undominated([(0, 0)]) == [(0, 0)]


def test_a_sum_is_written_with_each_size_as_often_as_it_counts() -> None:
    sizes = Sizes([4 * N, 8, N + N + N + N, M, sympy.Max(N, M)])
    assert sizes.symbolic == (4 * N, M, sympy.Max(N, M))
    assert [sizes.index(size) for size in (8, 4 * N, M, sympy.Max(N, M))] == [0, 1, 2, 3]
    assert sizes.quantity((5, 0, 0, 0)) == 5
    assert sizes.quantity((5, 2, 1, 0)) == 8 * N + M + 5
    assert sizes.quantity((0, 1, 0, 2)) == 4 * N + 2 * sympy.Max(N, M)


def test_what_is_no_polynomial_is_added_and_not_compared() -> None:
    sizes = Sizes([2**N, M])
    assert sizes.quantity((3, 2, 0)) == 2 * 2**N + 3
    assert sizes.quantity((3, 2, 5)) == 2 * 2**N + 5 * M + 3
    assert not reaches(N - 2**N, N, BOTH)


def test_a_maximum_is_that_of_comparing_every_two() -> None:
    chance = random.Random(3)
    for _ in range(200):
        exprs = chance.sample(EXPRS, chance.randint(1, 6))
        kept: list[sympy.Expr] = []
        for one in exprs:
            if not any(reaches(other, one, BOTH) for other in kept):
                kept = [*(other for other in kept if not reaches(one, other, BOTH)), one]
        expected = kept[0] if len(kept) == 1 else sympy.Max(*kept, evaluate=False)
        assert maximum(exprs, BOTH) == expected


def test_what_has_no_symbol_in_common_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object) -> bool:
        raise AssertionError("compared")

    sizes = [4 * symbol for symbol in sympy.symbols("n:50", integer=True)]
    monkeypatch.setattr(formula, "reaches", never)
    assert maximum(sizes, frozenset(symbol for size in sizes for symbol in size.free_symbols)).args
