"""Relations between integers that are asked again and again.

A model asks the same few questions thousands of times, and building a sympy relation costs more than
looking one up.
"""

from __future__ import annotations

from functools import lru_cache

import sympy
from sympy.logic.boolalg import Boolean

CACHED = 1 << 14
"""How many relations of one kind are kept."""


@lru_cache(maxsize=CACHED)
def at_most(a: sympy.Expr, b: sympy.Expr) -> Boolean:
    """a <= b."""
    return sympy.Le(a, b)


@lru_cache(maxsize=CACHED)
def at_least_zero(a: sympy.Expr) -> Boolean:
    """a >= 0."""
    return sympy.Ge(a, 0)


@lru_cache(maxsize=CACHED)
def none_negative(quantities: tuple[sympy.Expr, ...]) -> Boolean:
    """Every quantity is >= 0."""
    return sympy.And(*(at_least_zero(quantity) for quantity in quantities))
