"""What a kernel is sure to read, whatever the data is: always, or in steps of loops where conditions hold.

What only goes to a buffer of the kernel's own does not count unless that buffer is read for sure afterwards,
nor does what goes to a parameter that is stored anew before anybody reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.touches import Loop
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.steps import has_step, in_some_step, with_sizes

Sure: TypeAlias = "dict[Any, Boolean]"
"""What is read, each with the condition under which that happens: on the sizes, and on the steps of the loops
around. Keys are positions of parameters, variables of own buffers and of values with names, cells of own
buffers, and pairs (where it is stored, what is read to be stored there) of these.
"""
Shape: TypeAlias = "tuple[sympy.Expr, ...] | None"


@record(frozen=True)
class Cell:
    """One element of an own buffer, whose indices are numbers."""

    buffer: Any
    indices: tuple[int, ...]


def buffer_of(key: Any) -> Any:
    """The whole of which a key is a part."""
    return key.buffer if isinstance(key, Cell) else key


def _meet(one: Any, other: Any) -> bool:
    """Whether two parts of one buffer have an element in common, as far as is known."""
    return not (isinstance(one, Cell) and isinstance(other, Cell) and one.indices != other.indices)


def add(sure: Sure, more: Sure) -> None:
    """What is read in one place or in another."""
    for parameter, when in more.items():
        known = sure.get(parameter, sympy.false)
        # Most are one and the same.
        sure[parameter] = when if known in (sympy.false, when) else sympy.Or(known, when)


def in_each(ways: Sequence[Sure]) -> Sure:
    """What is read on each of several ways."""
    shared = set(ways[0]).intersection(*ways[1:])
    found = {one: sympy.And(*(way[one] for way in ways)) for one in ways[0] if one in shared}
    # What one way stores in one parameter, and another in another one, both have read.
    stored = [_in_the_end(way) for way in ways]
    known = _in_the_end(found)
    for one in set(stored[0]).intersection(*stored[1:]) - known.keys():
        found[one] = sympy.And(*(way[one] for way in stored))
    return found


def _in_the_end(sure: Sure) -> Sure:
    """The parameters that are read, where all that parameters hold afterwards matters."""
    found: Sure = {}
    for one, when in sure.items():
        target, source = one if isinstance(one, tuple) else (one, one)
        if isinstance(target, int) and isinstance(source, int):
            add(found, {source: when})
    return found


def where(sure: Sure, condition: Boolean) -> Sure:
    """What is read under a condition."""
    return {parameter: sympy.And(condition, when) for parameter, when in sure.items()}


def stored_in(sure: Sure, memory: Any) -> Sure:
    """What is read in order to be stored somewhere."""
    return {one if isinstance(one, tuple) else (memory, one): when for one, when in sure.items()}


def follow(sure: Sure, more: Sure, stored: Iterable[Any] = ()) -> Sure:
    """What is read in one part and then in another one, which reads what the first has stored; gives what the
    other one adds. Of what is `stored` in the first nobody asks what it held before.
    """
    found = [(one, sympy.And(first, then)) for one, first, then in _passed_on(sure, more)]
    hidden = {buffer_of(one[0]) for one in sure if isinstance(one, tuple)}.union(stored)
    added: Sure = {}
    for one, when in more.items():
        read = one[1] if isinstance(one, tuple) else one
        if isinstance(read, int) or buffer_of(read) not in hidden:
            add(added, {one: when})
    for one, when in found:
        add(added, {one: when})
    add(sure, added)
    return added


def _passed_on(sure: Sure, more: Sure) -> Iterator[tuple[Any, Boolean, Boolean]]:
    """What one part reads through what another one before it has stored, and when each of the two is so."""
    stored: dict[Any, list[tuple[Any, Any, Boolean]]] = {}
    for one, when in sure.items():
        if isinstance(one, tuple):
            stored.setdefault(buffer_of(one[0]), []).append((*one, when))
    for one, then in more.items():
        read = one[1] if isinstance(one, tuple) else one
        for target, source, first in stored.get(buffer_of(read), ()):
            if _meet(target, read):
                yield ((one[0], source) if isinstance(one, tuple) else source), first, then


def in_loop(sure: Sure, loop: Loop, shapes: Sequence[Shape], loops: Loops, *, whole: bool) -> Sure:
    """What is read in some step of a loop; where that may be left early (not `whole`), in the first one.
    `shapes` are those of all parameters.
    """
    ends = None if loop.symbol is None else loops.written_range_of(loop.symbol)
    if loop.symbol is None or loop.extent is None or ends is None:
        return {}
    found: Sure = {}
    stored = {buffer_of(one[0]) for one in sure if isinstance(one, tuple)}
    for one, when in sure.items():
        if not isinstance(one, int | tuple) and buffer_of(one) in stored:
            # What a step stores in an own buffer is what it reads of it.
            continue
        parameter = one[1] if isinstance(one, tuple) else one
        shape = shapes[parameter] if isinstance(parameter, int) else None
        has_any = sympy.true if loop.extent in (shape or ()) else has_step(loop.extent)
        holds = in_some_step(when, loop.symbol, ends.first, ends.last, whole=whole)
        found[one] = sympy.And(has_any, holds)
    if loop.serial and whole:
        # With a step the loop has fewer steps than its extent says.
        several = sympy.Ge(sympy.expand(ends.last - ends.first + 1), 2)
        for one, first, then in list(_passed_on(sure, sure)):
            if sure.get(one) != sympy.true:
                stays = first.xreplace({loop.symbol: ends.first}), then.xreplace({loop.symbol: ends.last})
                add(found, {one: sympy.And(several, *stays)})
    return found


def of_kernel(sure: Sure, shapes: Sequence[Shape], loops: Loops) -> Sure:
    """When parameters are read, where they have elements; without those of which that is not known."""
    known = set(loops.signature.values())
    given = [extent for one in shapes for extent in one or ()]
    return {
        parameter: with_sizes(when, given, shapes[parameter] or ())
        for parameter, when in _in_the_end(sure).items()
        if when.free_symbols <= known
    }
