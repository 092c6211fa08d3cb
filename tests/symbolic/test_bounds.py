"""Bounds of polynomials: no value is outside, and where each axis is linear the ends are reached."""

from __future__ import annotations

from itertools import product

import pytest
import sympy

from relax_lint.symbolic.functions import FloorDiv, FloorMod
from relax_lint.symbolic.intervals import Bounds

N, M = sympy.symbols("n m", integer=True)
BOXES = [{N: (-3, 4), M: (-2, 5)}, {N: (0, 4), M: (-2, 5)}, {N: (1, 3), M: (2, 5)}, {N: (-5, -1), M: (-4, 0)}]


def _values(expr: sympy.Expr, box: dict[sympy.Symbol, tuple[int, int]]) -> list[int]:
    ranges = [range(low, high + 1) for low, high in box.values()]
    return [int(expr.subs(dict(zip(box, point, strict=True)))) for point in product(*ranges)]


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize(
    "expr", [N * M - N, N * M - M + 3, 2 * N * M - 3 * N - M, N - M, -N * M, N * M + N - 7], ids=str
)
def test_the_ends_are_reached_where_each_axis_is_linear(
    expr: sympy.Expr, box: dict[sympy.Symbol, tuple[int, int]]
) -> None:
    values = _values(expr, box)
    low, high = Bounds(box).expr(expr)
    assert low <= min(values)
    assert high >= max(values)
    if low != 0 != high and low < 0 < high:
        assert (low, high) == (min(values), max(values))


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize(
    "expr",
    [
        N**2 - M,
        N**3 + M**2,
        N**2 * M - N * M**2,
        FloorDiv(N, 3) * 4 - M,
        FloorMod(N, 3) - FloorMod(M, 4),
        sympy.Max(N, M) - sympy.Min(N, M),
        FloorDiv(N, 3) * N - N,
    ],
    ids=str,
)
def test_no_value_is_outside(expr: sympy.Expr, box: dict[sympy.Symbol, tuple[int, int]]) -> None:
    values = _values(expr, box)
    low, high = Bounds(box).expr(expr)
    assert low <= min(values)
    assert high >= max(values)
