"""Shape heaps that functions are given: what the callers who are seen did to the slots before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy

from relax_lint.analysis.callees import Callees
from relax_lint.model.heap_contents import UNSURE, WRITTEN, Given, Last, SlotAccess, Ways
from relax_lint.model.operations import FunctionCall, ValueId
from relax_lint.model.program import Function, Program
from relax_lint.symbolic.quantity import Size, Unknown


def accesses_in(function: Function, program: Program, callees: Callees) -> Iterator[SlotAccess]:
    """The accesses of shape heaps, with what callers did to these before."""
    given = _GivenHeaps(program, callees)
    settled = (given.settled(access) for access in function.slot_accesses)
    return (access for access in settled if access is not None)


class _GivenHeaps:
    """The heaps that go into the functions of one program. What somebody unknown gives is written."""

    def __init__(self, program: Program, callees: Callees) -> None:
        self._functions = program.by_name
        self._callees = callees

    def settled(self, access: SlotAccess) -> SlotAccess | None:
        """An access with what the callers did to the slot before; None if it is of an ordinary tensor."""
        if not access.known and not any(map(self._is_heap, access.given)):
            return None
        index = int(access.slot) if isinstance(access.slot, sympy.Integer) else None
        ways = self._ways(access.ways, index, access.known)
        slots = access.slots
        if isinstance(slots, Unknown) and access.is_given:
            slots = self._count(access.given) or slots
        return replace(access, ways=ways, slots=slots)

    def _ways(self, ways: Ways, index: int | None, known: bool) -> Ways:
        found: set[Last | Given] = set()
        pending, seen = list(ways), set(ways)
        while pending:
            way = pending.pop()
            if isinstance(way, Last):
                found.add(way)
                continue
            for one in self._before(way, index, known) - seen:
                seen.add(one)
                pending.append(one)
        return frozenset(found) or WRITTEN

    def _before(self, given: Given, index: int | None, known: bool) -> Ways:
        """What was done to a slot by those who call a function."""
        found: Ways = frozenset()
        for caller, call, root in self._given_by(given):
            if root is None:
                found |= UNSURE if known else WRITTEN
            else:
                found |= caller.heaps.ways(root, index, caller.heaps.calls[call.place.index])
        return found if found and self._knows_callers(given) else found | WRITTEN

    def _given_by(self, given: Given) -> Iterator[tuple[Function, FunctionCall, ValueId | None]]:
        """The heaps that callers give who are seen, in their terms; None for one that is not followed."""
        function = self._functions[given.function]
        for caller, call in self._callees.calls_of(function):
            path = self._callees.passed(call, function).get(given.parameter)
            root = None if path is None else caller.heaps.heap_of(path.value, (*path.fields, *given.fields))
            before = caller.heaps.calls.get(call.place.index, {})
            yield caller, call, root if root in before else None

    def _knows_callers(self, given: Given) -> bool:
        return self._callees.knows_callers(self._functions[given.function])

    def _is_heap(self, given: Given) -> bool:
        """Whether somebody gives a heap that he allocated, or uses as one."""
        return any(
            caller.heaps.is_known(root) for caller, root in self._reached((given,)) if root is not None
        )

    def _count(self, given: tuple[Given, ...]) -> Size | None:
        """How many slots all heaps have that are given; None where that is not one number."""
        counts = set()
        for caller, root in self._reached(given):
            if root is None:
                return None
            count = caller.heaps.slots(root)
            if not isinstance(count, Unknown) or not caller.heaps.is_given(root):
                counts.add(count)
        return next(iter(counts)) if len(counts) == 1 and all(map(_is_number, counts)) else None

    def _reached(self, given: tuple[Given, ...]) -> Iterator[tuple[Function, ValueId | None]]:
        """The heaps that a parameter may be, in the terms of the callers, of their callers and so on; None
        where that is not known.
        """
        pending, seen = list(given), set(given)
        while pending:
            one = pending.pop()
            if not self._knows_callers(one):
                yield self._functions[one.function], None
            for caller, _, root in self._given_by(one):
                yield caller, root
                for more in () if root is None else caller.heaps.given(root):
                    if more not in seen:
                        seen.add(more)
                        pending.append(more)


def _is_number(size: Size) -> bool:
    return isinstance(size, sympy.Integer)
