"""Small conditions that rules ask thousands of times; building a sympy relation costs more than a look-up."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.program import Unknown
from relax_lint.symbolic.functions import FloorMod

_CACHED = 1 << 14


@lru_cache(maxsize=_CACHED)
def equal(a: sympy.Expr, b: sympy.Expr) -> Boolean:
    """a == b."""
    return sympy.Eq(a, b)


@lru_cache(maxsize=_CACHED)
def multiple_of(a: sympy.Expr, unit: int) -> Boolean:
    """a is a multiple of `unit`."""
    return sympy.true if unit == 1 else sympy.Eq(FloorMod(a, sympy.Integer(unit)), 0)


def all_of(conditions: Iterable[Boolean | Unknown]) -> Boolean | Unknown:
    """The conjunction: false where one condition is, else unknown where one is."""
    stated = []
    unknown: Unknown | None = None
    for condition in conditions:
        if isinstance(condition, Unknown):
            unknown = condition
        elif condition == sympy.false:
            return sympy.false
        elif condition != sympy.true:
            stated.append(condition)
    if unknown is not None:
        return unknown
    return sympy.And(*stated) if stated else sympy.true
