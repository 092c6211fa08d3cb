"""When loops have a step, for tensors that have elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic.functions import FloorDiv


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
    known: dict[sympy.Symbol, sympy.Expr] = {}
    for least, given in ((0, extents), (1, positive)):
        for symbol in given:
            if symbol.is_Symbol:
                known[symbol] = least + sympy.Dummy(symbol.name, integer=True, nonnegative=True)
    return _decided(condition, known)


def _decided(condition: Boolean, known: Mapping[sympy.Symbol, sympy.Expr]) -> Boolean:
    asked = {one: one.lhs - one.rhs for one in condition.atoms(sympy.Ge)}
    return condition.xreplace(
        {one: sympy.Ge(sympy.expand(value.xreplace(known)), 0) for one, value in asked.items()}
    )
