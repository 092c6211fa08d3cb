"""What a kernel is sure to read, whatever the data is: always, or in steps of loops where conditions hold.

What only goes to a buffer of the kernel's own does not count unless that buffer is read for sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.touches import Loop
from relax_lint.symbolic.steps import has_step, in_some_step, with_sizes

Sure: TypeAlias = "dict[Any, Boolean]"
"""What is read, each with the condition under which that happens: on the sizes, and on the steps of the loops
around. Keys are positions of parameters, variables of own buffers, and pairs (own buffer, what is read to be
stored there).
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
    return {one: sympy.And(*(way[one] for way in ways)) for one in ways[0] if one in shared}


def where(sure: Sure, condition: Boolean) -> Sure:
    """What is read under a condition."""
    return {parameter: sympy.And(condition, when) for parameter, when in sure.items()}


def stored_in(sure: Sure, buffer: Any) -> Sure:
    """What is read in order to be stored in an own buffer."""
    return {one if isinstance(one, tuple) else (buffer, one): when for one, when in sure.items()}


def in_loop(sure: Sure, loop: Loop, shapes: Sequence[Shape], loops: Loops, *, whole: bool) -> Sure:
    """What is read in some step of a loop; where that may be left early (not `whole`), in the first one.
    `shapes` are those of all parameters.
    """
    ends = None if loop.symbol is None else loops.written_range_of(loop.symbol)
    if loop.symbol is None or loop.extent is None or ends is None:
        return {}
    found: Sure = {}
    for one, when in _in_one_step(sure).items():
        parameter = one[1] if isinstance(one, tuple) else one
        shape = shapes[parameter] if isinstance(parameter, int) else None
        has_any = sympy.true if loop.extent in (shape or ()) else has_step(loop.extent)
        holds = in_some_step(when, loop.symbol, ends.first, ends.last, whole=whole)
        found[one] = sympy.And(has_any, holds)
    return found


def _in_one_step(sure: Sure) -> Sure:
    """The same, where what a step stores in an own buffer is what it reads of it."""
    stored = {one[0] for one in sure if isinstance(one, tuple)}
    through = _through_own_buffers(sure) if stored else sure
    return {one: when for one, when in through.items() if one not in stored}


def _through_own_buffers(sure: Sure) -> Sure:
    """With what is read because the own buffers are in which it is stored."""
    found = dict(sure)
    pairs = [(*one, when) for one, when in sure.items() if isinstance(one, tuple) and one[0] != one[1]]
    for _ in pairs:
        before = dict(found)
        for buffer, source, when in pairs:
            if buffer in before:
                add(found, {source: sympy.And(before[buffer], when)})
        if found == before:
            break
    return found


def of_kernel(sure: Sure, shapes: Sequence[Shape], loops: Loops) -> Sure:
    """When parameters are read, where they have elements; without those of which that is not known."""
    known = set(loops.signature.values())
    given = [extent for one in shapes for extent in one or ()]
    return {
        parameter: with_sizes(when, given, shapes[parameter] or ())
        for parameter, when in _through_own_buffers(sure).items()
        if isinstance(parameter, int) and when.free_symbols <= known
    }
