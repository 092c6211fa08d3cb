"""The conditions of budgets: what a pool saves where a size happens to be another one, size by size."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import sympy

from relax_lint.facts.budgets import _at_most
from relax_lint.symbolic.functions import Select
from relax_lint.symbolic.quantity import Unknown

N, M = sympy.symbols("n m", integer=True)


def saved(where: Any, number: int, otherwise: Any = 0) -> Any:
    """What is saved where two sizes are equal."""
    return Select(where, sympy.Integer(number), sympy.sympify(otherwise))


NEEDS = [
    8 * N + 60,
    8 * N + 60 - saved(sympy.Eq(N, 5), 40),
    8 * N + 60 - saved(sympy.Eq(N, 5), 40) - saved(sympy.Eq(N, 9), 30),
    8 * N + 60 - saved(sympy.Eq(N, 5), 40) - saved(sympy.Eq(N, 9), 30) - saved(sympy.Eq(N, 2), 70),
    # These may hold together, are no single numbers, or are added.
    8 * N + 60 - saved(sympy.Eq(N, 5), 40) - saved(sympy.Eq(M, 5), 30),
    8 * N + 60 - saved(sympy.Eq(N, M), 40),
    8 * N + 60 - saved(sympy.Eq(N, M), 40) - saved(sympy.Eq(N, 5), 40),
    8 * N + 60 - saved(sympy.Le(N, 5), 40),
    8 * N + 60 - saved(sympy.Eq(N, 5), 40, 8),
    8 * N + 60 + saved(sympy.Eq(N, 5), 40),
    8 * N + 60 - 2 * saved(sympy.Eq(N, 5), 20),
    saved(sympy.Eq(N, 5), 40),
    -saved(sympy.Eq(N, 5), 40) * N,
    sympy.Max(8 * N + 60 - saved(sympy.Eq(N, 5), 40), 9 * M),
    sympy.Max(8 * N, 9 * M, 70),
    sympy.Integer(90),
]


@pytest.mark.parametrize("number", range(len(NEEDS)))
@pytest.mark.parametrize("limit", [39, 40, 60, 76, 92, 100, 102, 132])
def test_a_condition_is_that_the_need_is_at_most_the_limit(number: int, limit: int) -> None:
    condition = _at_most(NEEDS[number], limit)
    assert not isinstance(condition, Unknown)
    for n, m in product(range(13), repeat=2):
        at = {N: n, M: m}
        assert (condition.subs(at) == sympy.true) is bool(NEEDS[number].subs(at) <= limit), at


def test_a_size_that_cannot_be_two_numbers_at_once_has_simple_cases() -> None:
    condition, unclear = (_at_most(NEEDS[place], 92) for place in (2, 4))
    assert not isinstance(condition, Unknown)
    assert not isinstance(unclear, Unknown)
    assert not condition.atoms(Select)
    assert unclear.atoms(Select)
    assert _at_most(90, 92) == sympy.true
    assert _at_most(Unknown("why"), 92) == Unknown("why")
