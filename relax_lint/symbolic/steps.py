"""When loops have a step, for tensors that have elements."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic.functions import FloorDiv


@lru_cache(maxsize=1 << 12)
def has_step(extent: sympy.Expr) -> Boolean:
    """When an extent is at least one, without the division of a loop over tiles."""
    least = sympy.Integer(1)
    while isinstance(extent, FloorDiv) and extent.args[1].is_Integer and extent.args[1].is_positive:
        extent, least = extent.args[0], least * extent.args[1]
    return sympy.Ge(extent, least)


def with_sizes(
    condition: Boolean, extents: Iterable[sympy.Expr], positive: Iterable[sympy.Expr] = ()
) -> Boolean:
    """What is left of a condition where the `extents` are no negative numbers, and those that are `positive`
    at least one. Only extents that are symbols tell something.
    """
    if condition in (sympy.true, sympy.false):
        return condition
    used = condition.free_symbols
    sure = used.intersection(positive)
    return _decided(condition, frozenset(used.intersection(extents) - sure), frozenset(sure))


# Of the loops in a kernel, many have the same condition.
@lru_cache(maxsize=1 << 12)
def _decided(
    condition: Boolean, never_negative: frozenset[sympy.Symbol], positive: frozenset[sympy.Symbol]
) -> Boolean:
    known = {
        symbol: least + sympy.Dummy(symbol.name, integer=True, nonnegative=True)
        for least, symbols in ((0, never_negative), (1, positive))
        for symbol in symbols
    }
    asked = {one: one.lhs - one.rhs for one in condition.atoms(sympy.Ge)}
    return condition.xreplace(
        {one: sympy.Ge(sympy.expand(value.xreplace(known)), 0) for one, value in asked.items()}
    )
