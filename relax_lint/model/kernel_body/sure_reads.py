"""What a kernel is sure to read, whatever the data is: always, or if the loops around a load have a step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.touches import Loop
from relax_lint.symbolic.steps import has_step, with_sizes

Sure: TypeAlias = "dict[int, Boolean]"
"""Parameters that are read, each with the condition on the sizes under which some step reads it."""


def add(sure: Sure, more: Sure) -> None:
    """What is read in one place or in another."""
    for parameter, when in more.items():
        sure[parameter] = sympy.Or(sure.get(parameter, sympy.false), when)


def in_each(ways: Sequence[Sure]) -> Sure:
    """What is read on each of several ways."""
    shared = set(ways[0]).intersection(*ways[1:])
    return {parameter: sympy.And(*(way[parameter] for way in ways)) for parameter in sorted(shared)}


def steps_of(
    nest: Sequence[Loop],
    shape: tuple[sympy.Expr, ...] | None,
    sizes: Iterable[tuple[sympy.Expr, ...] | None],
    loops: Loops,
) -> Boolean:
    """When all loops of a nest have a step for a tensor of a shape, where that has elements. `sizes` are the
    shapes of all parameters.
    """
    needed = sympy.And(*(_has_step(loop, nest, shape or (), loops) for loop in nest))
    if not needed.free_symbols <= set(loops.signature.values()):
        return sympy.false
    given = [extent for one in sizes for extent in one or ()]
    left = with_sizes(needed, given, shape or ())
    return left if left in (sympy.true, sympy.false) else needed


def _has_step(loop: Loop, nest: Sequence[Loop], shape: Sequence[sympy.Expr], loops: Loops) -> Boolean:
    if loop.extent is None:
        return sympy.false
    if loop.extent in shape:
        return sympy.true
    around = {one.symbol for one in nest} & loop.extent.free_symbols
    ranges = {symbol: loops.range_of(symbol) for symbol in around}
    ends = {symbol: (found.first, found.last) for symbol, found in ranges.items() if found is not None}
    if len(ends) < len(ranges):
        return sympy.false
    # All loops are at their first step at once, and at their last.
    steps = [loop.extent.xreplace({symbol: both[end] for symbol, both in ends.items()}) for end in (0, 1)]
    return sympy.Or(*map(has_step, steps))
