"""Elements that stores fill: blocks in a row at equal distances, and what several of them fill together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.strides import Linear
from relax_lint.model.kernel_parts import Fill, Repeat

_MAX_REST = 8
"""How many steps one of two loops may have more than the other."""


def fill_of(found: Linear, steps: Boolean) -> Fill:
    """What a store at such positions fills."""
    repeats = tuple(Repeat(stride.coefficient, stride.trips) for stride in found.strides if stride.trips != 1)
    return _joined(Fill(found.start, sympy.Integer(1), repeats, steps))


def merged(fills: Iterable[Fill], loops: Loops) -> list[Fill]:
    """The same elements as fewer fills, where blocks of one lie behind those of another."""
    pending = list(fills)
    while True:
        pair = next(
            (
                (one, other, together)
                for one in pending
                for other in pending
                if one is not other and (together := _behind(one, other, loops)) is not None
            ),
            None,
        )
        if pair is None:
            return pending
        one, other, together = pair
        pending = [fill for fill in pending if fill is not one and fill is not other]
        pending += together


def _joined(fill: Fill) -> Fill:
    """Repeated blocks that touch each other are one block. It is as large as they are distant, which is
    never below zero: a number of steps below zero does not make a block above.
    """
    pending, block = list(fill.repeats), fill.block
    while True:
        chosen = next((one for one in pending if sympy.expand(one.distance - block) == 0), None)
        if chosen is None:
            return replace(fill, block=block, repeats=tuple(pending))
        pending.remove(chosen)
        block = sympy.expand(block * chosen.trips)


def _behind(one: Fill, other: Fill, loops: Loops) -> list[Fill] | None:
    """Two fills as one, and a rest if there is one, where the blocks of the other lie behind those of the
    one.
    """
    if sympy.expand(one.start + one.block - other.start) != 0:
        return None
    rest: list[Fill] = []
    if sorted(one.repeats, key=str) != sorted(other.repeats, key=str):
        if (cut := _cut(one, other, loops)) is not None:
            one, rest = cut[0], [cut[1]]
        elif (cut := _cut(other, one, loops)) is not None:
            other, rest = cut[0], [cut[1]]
        else:
            return None
    block = sympy.expand(one.block + other.block)
    both = Fill(one.start, block, one.repeats, sympy.And(one.steps, other.steps))
    return [_joined(fill) for fill in (both, *rest)]


def _cut(fill: Fill, pattern: Fill, loops: Loops) -> tuple[Fill, Fill] | None:
    """A fill in two, of which the first is repeated as the pattern is, and the second some more times."""
    mine, theirs = list(fill.repeats), list(pattern.repeats)
    for repeat in fill.repeats:
        if repeat in theirs:
            mine.remove(repeat)
            theirs.remove(repeat)
    if len(mine) != 1 or len(theirs) > 1:
        return None
    longer = mine[0]
    shorter = theirs[0] if theirs else Repeat(longer.distance, sympy.Integer(1))
    more = sympy.expand(longer.trips - shorter.trips)
    if longer.distance != shorter.distance or not (more.is_Integer and 0 < more <= _MAX_REST):
        return None
    if not loops.is_not_negative(shorter.trips):
        return None
    others = list(fill.repeats)
    others.remove(longer)
    start = sympy.expand(fill.start + longer.distance * shorter.trips)
    last = () if more == 1 else (Repeat(longer.distance, more),)
    return replace(fill, repeats=pattern.repeats), replace(fill, start=start, repeats=(*others, *last))


def in_a_row(fills: Sequence[Fill], count: sympy.Expr) -> bool:
    """Whether some blocks, which are not repeated, lie one behind the other and make up all elements."""
    end = sympy.Integer(0)
    pending = [fill for fill in fills if fill.steps == sympy.true]
    while pending:
        following = next((fill for fill in pending if sympy.expand(fill.start - end) == 0), None)
        if following is None:
            return False
        pending.remove(following)
        end = sympy.expand(end + following.block)
        if sympy.expand(end - count) == 0:
            return True
    return False


def filled_by_sorting(
    source: Sequence[sympy.Expr], result: Sequence[sympy.Expr], axis: int, first: int | None
) -> Boolean:
    """When a result is written as a whole of which so many elements of each row are, if there are as many."""
    others = [(a, b) for at, (a, b) in enumerate(zip(source, result, strict=True)) if at != axis]
    if any(a != b for a, b in others) or result[axis] != (source[axis] if first is None else first):
        return sympy.false
    if first is None:
        return sympy.true
    enough = sympy.Ge(source[axis], first)
    # That it never holds is known, unlike false.
    return sympy.Ge(source[axis], first, evaluate=False) if enough == sympy.false else enough
