"""Where a search finds a member without solving, and which conditions count as linear."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from relax_lint.symbolic.backend import is_linear
from relax_lint.symbolic.functions import FloorDiv, FloorMod
from relax_lint.symbolic.links import Links

N, M, K = (sympy.Symbol(name, integer=True) for name in "nmk")


def sample(symbols: tuple[Any, ...], low: int, high: int, wanted: Any) -> tuple[int, ...] | None:
    """What is found where each symbol is within the bounds."""
    within = tuple(bound for s in symbols for bound in (sympy.Ge(s, low), sympy.Le(s, high)))
    return Links(rlimit=0, max_points=0).search(symbols, within).sample(wanted)


@pytest.mark.parametrize("low", [-50, 10])
@pytest.mark.parametrize("high", [1000, 7777])
def test_the_ends_of_a_range_and_their_neighbours_are_tried(low: int, high: int) -> None:
    for value in (low, low + 1, low + 2, low + 3, (low + high) // 2, high - 1, high):
        assert sample((N,), low, high, sympy.Eq(N, value)) == (value,)


@pytest.mark.parametrize("rest", [0, 1, 7777])
@pytest.mark.parametrize("apart", [0, 1, 2, 100, 7776, 7777])
def test_one_symbol_may_be_apart_from_the_rest(rest: int, apart: int) -> None:
    wanted = sympy.And(sympy.Eq(N, rest), sympy.Eq(M, apart), sympy.Eq(K, rest))
    assert sample((N, M, K), 0, 7777, wanted) == (rest, apart, rest)


@pytest.mark.parametrize(
    ("expression", "linear"),
    [
        (sympy.Integer(3), True),
        (N, True),
        (N + 1, True),
        (2 * N + 3 * M, True),
        (FloorDiv(N + M, 2), True),
        (sympy.Le(N + M, 3 * K), True),
        (N * M, False),
        (N**2, False),
        (FloorDiv(N, M), False),
        (FloorMod(N * M, 2), False),
        (sympy.Le(N * M, 3), False),
        (sympy.Or(sympy.Le(N, 3), sympy.Le(N * M, K)), False),
    ],
)
def test_linear_is_what_multiplies_by_numbers_only(expression: Any, linear: bool) -> None:
    assert is_linear(expression) is linear
