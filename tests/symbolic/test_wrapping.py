"""Which conditions on 64-bit integers may mean something else than on integers."""

from __future__ import annotations

import pytest
import sympy

from relax_lint.symbolic.functions import FloorDiv
from relax_lint.symbolic.wrapping import may_wrap

X, Y, N = sympy.symbols("x y n", integer=True)
FREE = frozenset({X, Y})
SMALL = 2**31
EXTENT = 2**40
MOST = 2**63 - 1


@pytest.mark.parametrize(
    ("condition", "plain", "simplified"),
    [
        (X <= 5, False, False),
        (X + 1 <= 5, True, False),
        (sympy.Le(2 * X, 6, evaluate=False), True, False),
        (sympy.Le((SMALL - 1) * X, 5), True, False),
        (sympy.Le(SMALL * X, 5), True, True),
        (sympy.Le(3 * X, SMALL - 1), True, False),
        (sympy.Le(3 * X, SMALL), True, True),
        (sympy.Le(-3 * X, -SMALL), True, True),
        (sympy.Le(X**2, 9), True, True),
        (sympy.Le(X + Y, 9), True, True),
        (sympy.Le(X * N, 9), True, True),
        (sympy.Le(X, N), False, False),
        (sympy.Le(X, N * N), True, True),
        (sympy.Le(FloorDiv(X, 2), 9), False, False),
        (sympy.Le(FloorDiv(X, 2) * 2, 9), True, True),
        (sympy.Le(sympy.Max(X, N), 9), False, False),
        (sympy.Le(sympy.Min(X, N) + 1, 9), True, True),
        (sympy.Le(N + N, 9), False, False),
        (sympy.Le(N**4, 9), False, False),
        (sympy.And(X <= 5, X + 1 >= Y), True, True),
        (sympy.And(X <= 5, N**4 >= 5), False, False),
    ],
    ids=str,
)
def test_what_may_leave_64_bits(condition: sympy.Basic, plain: bool, simplified: bool) -> None:
    assert may_wrap(condition, FREE, EXTENT, simplified=False) is plain
    assert may_wrap(condition, FREE, EXTENT, simplified=True) is simplified


@pytest.mark.parametrize(("extent", "wraps"), [(2**31, False), (2**32, True)])
def test_a_product_of_extents_counts_beside_a_free_symbol(extent: int, wraps: bool) -> None:
    assert may_wrap(sympy.Le(X, N**2), FREE, extent, simplified=False) is wraps
    assert may_wrap(sympy.Le(Y, 5) & sympy.Le(N**2, 7), FREE, extent, simplified=False) is False


@pytest.mark.parametrize(("more", "wraps"), [(0, False), (1, True)])
def test_the_ends_themselves_fit(more: int, wraps: bool) -> None:
    assert may_wrap(sympy.Le(X, N + MOST - EXTENT + more), FREE, EXTENT, simplified=False) is wraps
    low = -(2**63) + EXTENT
    assert may_wrap(sympy.Le(X, low - N - more), FREE, EXTENT, simplified=False) is wraps
