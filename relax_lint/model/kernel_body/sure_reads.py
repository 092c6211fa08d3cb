"""What a kernel is sure to read, whatever the data is: always, or in steps of loops where conditions hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.touches import Loop
from relax_lint.symbolic.steps import has_step, in_some_step, with_sizes

Sure: TypeAlias = "dict[int, Boolean]"
"""Parameters that are read, each with the condition under which that happens: on the sizes, and on the steps
of the loops around.
"""
Shape: TypeAlias = "tuple[sympy.Expr, ...] | None"


def add(sure: Sure, more: Sure) -> None:
    """What is read in one place or in another."""
    for parameter, when in more.items():
        known = sure.get(parameter, sympy.false)
        # Most are one and the same.
        sure[parameter] = when if known in (sympy.false, when) else sympy.Or(known, when)


def in_each(ways: Sequence[Sure]) -> Sure:
    """What is read on each of several ways."""
    shared = set(ways[0]).intersection(*ways[1:])
    return {parameter: sympy.And(*(way[parameter] for way in ways)) for parameter in sorted(shared)}


def where(sure: Sure, condition: Boolean) -> Sure:
    """What is read under a condition."""
    return {parameter: sympy.And(condition, when) for parameter, when in sure.items()}


def in_loop(sure: Sure, loop: Loop, shapes: Sequence[Shape], loops: Loops, *, whole: bool) -> Sure:
    """What is read in some step of a loop; where that may be left early (not `whole`), in the first one.
    `shapes` are those of all parameters.
    """
    ends = None if loop.symbol is None else loops.written_range_of(loop.symbol)
    if loop.symbol is None or loop.extent is None or ends is None:
        return {}
    found: Sure = {}
    for parameter, when in sure.items():
        has_any = sympy.true if loop.extent in (shapes[parameter] or ()) else has_step(loop.extent)
        holds = in_some_step(when, loop.symbol, ends.first, ends.last, whole=whole)
        found[parameter] = sympy.And(has_any, holds)
    return found


def of_kernel(sure: Sure, shapes: Sequence[Shape], loops: Loops) -> Sure:
    """When parameters are read, where they have elements; without those of which that is not known."""
    known = set(loops.signature.values())
    given = [extent for one in shapes for extent in one or ()]
    return {
        parameter: with_sizes(when, given, shapes[parameter] or ())
        for parameter, when in sure.items()
        if when.free_symbols <= known
    }
