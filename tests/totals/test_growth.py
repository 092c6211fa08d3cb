"""How much a total grows with a symbol: the value at each step tells."""

from __future__ import annotations

import pytest
import sympy

from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.symbolic.functions import FloorDiv, FloorMod, Select
from relax_lint.totals.growth import growth_of, step_of, without_coincidences

N, M = (sympy.Symbol(name, integer=True) for name in "nm")

GROWN = {
    4 * N + 7: (4, 1),
    sympy.Integer(12): (0, 1),
    7 * M: (0, 1),
    -3 * N + M: (-3, 1),
    FloorDiv(N + 3, 4): (1, 4),
    16 * FloorDiv(N + 3, 4): (16, 4),
    FloorDiv(6 * N, 4): (3, 2),
    FloorDiv(8 * N, 4): (2, 1),
    FloorDiv(N, 4) + FloorDiv(N + 1, 6): (5, 12),
    4096 * FloorDiv(4 * N + 4095, 4096): (4096, 1024),
    2 * N + 3 * FloorDiv(N, 2): (7, 2),
    FloorDiv(FloorDiv(N, 2) + 5, 3): (1, 6),
    FloorDiv(M, 3) + N: (1, 1),
    4 * (N + FloorDiv(N, 2)): (12, 4 // 2),
    FloorDiv(N + 2 * FloorDiv(N, 2), 6): (2, 6),
}
"""Bytes, and for how many units."""
NOT_EVEN = [N**2, N * M, sympy.Max(N, 4), FloorDiv(100, N + 1), FloorMod(N, 3), FloorDiv(N, M), N * M + N]


@pytest.mark.parametrize("total", GROWN)
def test_it_grows_by_so_much_wherever_one_starts(total: sympy.Expr) -> None:
    found = growth_of(total, N)
    assert found == GROWN[total]
    more, units = GROWN[total]
    value = compile_expr(total, (N, M))
    for n in range(30):
        assert value(n + units, 5) - value(n, 5) == more
    # No smaller number of units has such a step.
    assert all(len({value(n + u, 5) - value(n, 5) for n in range(30)}) > 1 for u in range(1, units))


@pytest.mark.parametrize("total", NOT_EVEN)
def test_what_has_no_such_step(total: sympy.Expr) -> None:
    assert growth_of(total, N) is None


def test_the_steps_of_values() -> None:
    assert step_of([4 * n + 1 for n in range(9)]) == (4, 1)
    assert step_of([n // 4 for n in range(9)]) == (1, 4)
    assert step_of([n // 4 for n in range(8)]) == (1, 4)
    assert step_of([n // 4 for n in range(7)]) is None
    assert step_of([n // 3 for n in range(20)]) is None
    assert step_of([n // 3 for n in range(20)], (3,)) == (1, 3)
    assert step_of([5, 5, 5]) == (0, 1)
    assert step_of([n * n for n in range(100)]) is None
    assert step_of([7]) is None
    # The last value counts too.
    assert step_of([0, 1, 2, 3, 5]) is None


def test_without_what_is_saved_where_sizes_are_equal() -> None:
    saved = Select(sympy.Eq(N, M), 8, 0)
    assert without_coincidences(4 * N - saved) == 4 * N
    other = Select(sympy.Eq(N, M), 8, 3)
    assert without_coincidences(4 * N + other) == 4 * N + other


def test_what_does_not_grow_is_as_even_as_what_is_divided() -> None:
    """`n - 2*(n//2)` is 0 or 1, and the same two later; no multiple of the divisor is needed."""
    assert growth_of(FloorDiv(N - 2 * FloorDiv(N, 2), 3), N) == (0, 2)
