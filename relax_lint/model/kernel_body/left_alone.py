"""When a call is certain to leave an element of a parameter as it was.

Stores that come to no element of the first or last row of an axis leave that row alone, whatever steps their
loops have: the ranges of their indices are as wide as any run makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.touches import Touch
from relax_lint.symbolic.relations import at_most


def left_alone(touches: Iterable[Touch], shape: Sequence[sympy.Expr] | None, loops: Loops) -> Boolean:
    """When some element is not stored to, of a parameter that has elements: `touches` are all that may store
    to it. True, false where nothing is known, or a condition on the symbols of the signature.
    """
    stores = [touch for touch in touches if touch.writes]
    if not shape or any(touch.known_indices is None or touch.outside for touch in stores):
        return sympy.false
    # What leaves an axis other than the first is an element of another row.
    if not all(_stays_in_its_row(store, shape, loops) for store in stores):
        return sympy.false
    return sympy.Or(*(_row_is_left(axis, extent, stores, loops) for axis, extent in enumerate(shape)))


def _stays_in_its_row(store: Touch, shape: Sequence[sympy.Expr], loops: Loops) -> bool:
    return all(
        any(loops.is_not_negative(first) for first in _ends(store, axis, loops, -1))
        and any(loops.is_not_negative(extent - 1 - last) for last in _ends(store, axis, loops, 1))
        for axis, extent in enumerate(shape)
        if axis > 0
    )


def _row_is_left(axis: int, extent: sympy.Expr, stores: Sequence[Touch], loops: Loops) -> Boolean:
    behind_first = [[_at_most(1, first, loops) for first in _ends(one, axis, loops, -1)] for one in stores]
    before_last = [
        [_at_most(last, extent - 2, loops) for last in _ends(one, axis, loops, 1)] for one in stores
    ]
    return sympy.Or(*(sympy.And(*(sympy.Or(*some) for some in ends)) for ends in (behind_first, before_last)))


def _at_most(one: sympy.Expr | int, other: sympy.Expr, loops: Loops) -> Boolean:
    """When a <= b: true where that holds for all extents of tensors."""
    room = sympy.expand(other - one)
    return sympy.true if loops.is_not_negative(room) else at_most(sympy.Integer(0), room)


def _ends(store: Touch, axis: int, loops: Loops, way: int) -> list[sympy.Expr]:
    """Numbers that an index does not pass in one direction, by the loops and by each condition."""
    assert store.known_indices is not None
    index = store.known_indices[axis]
    reached = loops.range_of(index)
    found = [] if reached is None else [reached.last if way > 0 else reached.first]
    for asked in store.conditions or ():
        rest = sympy.expand(index - way * asked.value)
        if loops.in_signature(rest):
            found.append(sympy.expand(rest + way * (asked.limit - 1)))
    return found
