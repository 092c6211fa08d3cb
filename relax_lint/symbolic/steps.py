"""When loops have a step, for tensors that have elements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic.functions import FloorDiv


def has_step(extent: sympy.Expr) -> Boolean:
    """When an extent is at least one, without the division of a loop over tiles."""
    least = sympy.Integer(1)
    while isinstance(extent, FloorDiv) and extent.args[1].is_Integer and extent.args[1].is_positive:
        extent, least = extent.args[0], least * extent.args[1]
    return sympy.Ge(extent, least)


def lower_bounds(condition: Boolean) -> Iterator[tuple[sympy.Symbol, int]]:
    """The symbols that a condition compares with a number, each with the least that it can be then."""
    for one in sympy.And.make_args(condition):
        strict = isinstance(one, sympy.Gt | sympy.Lt)
        if isinstance(one, sympy.Ge | sympy.Gt | sympy.Eq) and one.lhs.is_Symbol and one.rhs.is_Integer:
            yield one.lhs, int(one.rhs) + strict
        elif isinstance(one, sympy.Le | sympy.Lt) and one.rhs.is_Symbol and one.lhs.is_Integer:
            yield one.rhs, int(one.lhs) + strict


def with_sizes(
    condition: Boolean,
    extents: Iterable[sympy.Expr],
    positive: Iterable[sympy.Expr] = (),
    bounds: Iterable[tuple[sympy.Symbol, int]] = (),
) -> Boolean:
    """What is left of a condition where the `extents` are no negative numbers, and those that are `positive`
    at least one; `bounds` are symbols with the least that each is. Only extents that are symbols tell
    something.
    """
    if condition in (sympy.true, sympy.false):
        return condition
    least: dict[sympy.Symbol, int] = {}
    given = ((one, number) for number, each in ((0, extents), (1, positive)) for one in each if one.is_Symbol)
    for symbol, number in (*given, *bounds):
        least[symbol] = max(number, least.get(symbol, number))
    known = {
        symbol: number + sympy.Dummy(symbol.name, integer=True, nonnegative=True)
        for symbol, number in least.items()
    }
    return _decided(condition, known)


def _decided(condition: Boolean, known: Mapping[sympy.Symbol, sympy.Expr]) -> Boolean:
    asked = {one: one.lhs - one.rhs for one in condition.atoms(sympy.Ge)}
    return condition.xreplace(
        {one: sympy.Ge(sympy.expand(value.xreplace(known)), 0) for one, value in asked.items()}
    )
