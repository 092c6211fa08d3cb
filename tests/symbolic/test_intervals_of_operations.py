"""Bounds of each operation on two ranges, against all values."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import sympy

from relax_lint.symbolic import functions as f
from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.symbolic.intervals import Bounds

N, M = sympy.symbols("n m", integer=True)
RANGES = ((-7, -7), (-7, -2), (-5, 6), (-1, 0), (0, 0), (0, 5), (1, 1), (1, 9), (3, 4), (8, 13))
BOXES = tuple(product(RANGES, RANGES))
EXACT = (
    f.FloorDiv(N, M),
    f.TruncDiv(N, M),
    sympy.Max(N, M),
    sympy.Min(N, M),
    N * M,
    N - M,
    N + 2 * M,
    N**2 - M,
)


def _bounds(expr: Any, n: tuple[int, int], m: tuple[int, int]) -> tuple[int, int]:
    return Bounds({N: n, M: m}).expr(expr)


def _values(expr: Any, n: tuple[int, int], m: tuple[int, int]) -> set[int]:
    value, found = compile_expr(expr, (N, M)), set()
    for point in product(range(n[0], n[1] + 1), range(m[0], m[1] + 1)):
        try:
            found.add(value(*point))
        except ZeroDivisionError:
            continue
    return found


@pytest.mark.parametrize("expr", EXACT, ids=str)
def test_the_ends_are_taken(expr: Any) -> None:
    for n, m in BOXES:
        values = _values(expr, n, m)
        assert not values or _bounds(expr, n, m) == (min(values), max(values)), (n, m)


@pytest.mark.parametrize("expr", [f.FloorMod(N, M), f.TruncMod(N, M)], ids=str)
def test_a_remainder_is_within_its_divisor_and_its_dividend(expr: Any) -> None:
    floor = isinstance(expr, f.FloorMod)
    for n, m in BOXES:
        values = _values(expr, n, m)
        if not values:
            continue
        low, high = _bounds(expr, n, m)
        assert low <= min(values), (n, m)
        assert max(values) <= high, (n, m)
        signs = [d for d in range(m[0], m[1] + 1) if d]
        largest = max(map(abs, signs)) - 1
        assert -largest <= low, (n, m)
        assert high <= largest, (n, m)
        # The sign is that of the divisor, or of the dividend.
        positive = min(signs) > 0 if floor else n[0] >= 0
        negative = max(signs) < 0 and m[1] < 0 if floor else n[1] <= 0
        assert not positive or low == 0, (n, m)
        assert not negative or high == 0, (n, m)
        assert not (positive and m[0] > 0 and n[0] >= 0) or high <= n[1], (n, m)
        if m[0] == m[1] and n[1] - n[0] >= abs(m[0]) and floor:
            assert (low, high) == (min(values), max(values)), (n, m)


@pytest.mark.parametrize("expr", [f.BitAnd(N, M), f.BitOr(N, M), f.BitXor(N, M)], ids=str)
def test_bits_stay_in_the_range_of_both(expr: Any) -> None:
    for n, m in BOXES:
        values = _values(expr, n, m)
        low, high = _bounds(expr, n, m)
        assert low <= min(values), (n, m)
        assert max(values) <= high, (n, m)
        assert (low >= 0) is (n[0] >= 0 and m[0] >= 0), (n, m)
        assert high < 2 * max(map(abs, (*n, *m, 1))), (n, m)
