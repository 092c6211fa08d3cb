"""Positions as sums of multiples of loop variables: which steps they tell apart, and what they cover."""

from __future__ import annotations

from collections.abc import Iterable

import sympy

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Stride:
    """`coefficient` > 0 elements for each of `trips` steps of a loop."""

    symbol: sympy.Symbol
    coefficient: sympy.Expr
    trips: sympy.Expr


@record(frozen=True)
class Linear:
    """The smallest value of a sum of loop variables, and how far each loop moves it."""

    start: sympy.Expr
    strides: tuple[Stride, ...]


def linear(position: sympy.Expr, symbols: Iterable[sympy.Symbol], loops: Loops) -> Linear | None:
    """A position as a sum over the loops of which it has the variables; None for any other expression."""
    rest = sympy.expand(position)
    strides = []
    for symbol in symbols:
        if symbol not in rest.free_symbols:
            continue
        reached = loops.range_of(symbol)
        coefficient = sympy.expand(rest.coeff(symbol, 1))
        if reached is None or not loops.in_signature(coefficient):
            return None
        rest = sympy.expand(rest - coefficient * symbol)
        trips = sympy.expand(reached.extent)
        if loops.is_not_negative(coefficient):
            rest = sympy.expand(rest + coefficient * reached.first)
        elif loops.is_not_negative(-coefficient):
            rest = sympy.expand(rest + coefficient * reached.last)
            coefficient = -coefficient
        else:
            return None
        strides.append(Stride(symbol, coefficient, trips))
    return Linear(rest, tuple(strides)) if loops.in_signature(rest) else None


def told_apart(found: Linear, loops: Loops) -> set[sympy.Symbol]:
    """The loops of which the value tells the step: each moves it further than all smaller ones together."""
    told: set[sympy.Symbol] = set()
    pending = list(found.strides)
    reach = sympy.Integer(0)
    while pending:
        wide = [stride for stride in pending if loops.is_not_negative(stride.coefficient - reach - 1)]
        # The one with the least reach first, so that it stands below the others.
        chosen = next((one for one in wide if all(_fits_below(one, other, loops) for other in wide)), None)
        if chosen is None:
            return set()
        pending.remove(chosen)
        told.add(chosen.symbol)
        reach = sympy.expand(reach + chosen.coefficient * (chosen.trips - 1))
    return told


def _fits_below(one: Stride, other: Stride, loops: Loops) -> bool:
    return one is other or loops.is_not_negative(other.coefficient - one.coefficient * one.trips)


def covered(found: Linear) -> sympy.Expr | None:
    """How many elements in a row the values are, from the start on; None where there may be gaps."""
    size = sympy.Integer(1)
    pending = list(found.strides)
    while pending:
        chosen = next((one for one in pending if sympy.expand(one.coefficient - size) == 0), None)
        if chosen is None:
            return None
        pending.remove(chosen)
        size = sympy.expand(size * chosen.trips)
    return size
