"""TVM's workspace pool on paper: a walk with the pool's buffers in it."""

from __future__ import annotations

from enum import Enum, auto

import sympy

from relax_lint.symbolic.functions import FloorDiv
from relax_lint.totals.concrete import Path
from relax_lint.totals.formula import greatest, reaches
from relax_lint.totals.kernel_memory import CallWorkspaces
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.walk import Allocation, Walk
from relax_lint.vm.workspaces import WORKSPACE_PAGE_SIZE


class Which(Enum):
    """The buffers that count."""

    BOTH = auto()
    """Those of the allocator and of the workspace pool."""
    POOL = auto()
    POOL_OF_A_WORKER = auto()


def with_pool(path: Path, positive: frozenset[sympy.Symbol], which: Which) -> Walk:
    """The walk with the buffers of the workspace pool as allocations. Raises Indeterminate."""
    walk, alone = path.walk, which is not Which.BOTH
    allocations = [] if alone else list(walk.allocations)
    events: list[int] = []
    pool = _Pool(allocations, events, positive)
    done = 0
    for call in path.requests:
        if not alone:
            events.extend(walk.events[done : call.point.moment])
        done = call.point.moment
        pool.serve(call.of_a_worker() if which is Which.POOL_OF_A_WORKER else call)
    if not alone:
        events.extend(walk.events[done:])
    return Walk(allocations=allocations, events=events, chosen=walk.chosen)


class _Pool:
    """TVM's workspace pool on paper. Each of its buffers is an allocation of the walk, which ends where the
    buffer is exchanged.
    """

    def __init__(
        self, allocations: list[Allocation], events: list[int], positive: frozenset[sympy.Symbol]
    ) -> None:
        self._allocations = allocations
        self._events = events
        self._positive = positive
        self._free: list[tuple[Quantity, int]] = []
        """Sizes as they were asked for, with the number of the allocation."""

    def serve(self, call: CallWorkspaces) -> None:
        """The requests of one call and their ends. Raises Indeterminate."""
        taken: dict[int, tuple[Quantity, int]] = {}
        for event in call.events:
            number = abs(event) - 1
            if event > 0:
                taken[number] = self._take(call.sizes[number], call)
            else:
                self._free.append(taken.pop(number))

    def _take(self, size: Quantity, call: CallWorkspaces) -> tuple[Quantity, int]:
        if not self._free:
            return self._obtain(size, call)
        if len(self._free) == 1:
            (held, number) = self._free.pop()
            if self._reaches(held, size):
                return held, number
            return self._exchange(number, greatest([held, size], self._positive), call)
        if isinstance(size, int) and all(isinstance(free, int) for free, _ in self._free):
            return self._first_fit(size, call)
        return self._choose(size, call)

    def _first_fit(self, size: int, call: CallWorkspaces) -> tuple[Quantity, int]:
        """Where all sizes are known."""
        self._free.sort(key=lambda entry: int(obtained_for(entry[0])))
        wanted = int(obtained_for(size))
        for position, (held, _) in enumerate(self._free):
            if int(obtained_for(held)) >= wanted:
                return self._free.pop(position)
        return self._exchange(self._free.pop()[1], size, call)

    def _choose(self, size: Quantity, call: CallWorkspaces) -> tuple[Quantity, int]:
        """Where sizes are symbolic: the request is at most as large as all that is free, or at least. In
        between it depends on the values which buffer is the first that is large enough.
        """
        least = [e for e in self._free if all(self._reaches(other[0], e[0]) for other in self._free)]
        if least and self._reaches(least[0][0], size):
            self._free.remove(least[0])
            return least[0]
        largest = [e for e in self._free if all(self._reaches(e[0], other[0]) for other in self._free)]
        if largest and self._reaches(size, largest[0][0]):
            self._free.remove(largest[0])
            return self._exchange(largest[0][1], size, call)
        raise Indeterminate("which buffers the workspace pool reuses depends on the values of the symbols")

    def _reaches(self, upper: Quantity, lower: Quantity) -> bool:
        if upper == lower:
            return True
        return reaches(sympy.sympify(upper), sympy.sympify(lower), self._positive)

    def _exchange(self, number: int, size: Quantity, call: CallWorkspaces) -> tuple[Quantity, int]:
        self._events.append(-(number + 1))
        return self._obtain(size, call)

    def _obtain(self, size: Quantity, call: CallWorkspaces) -> tuple[Quantity, int]:
        number = len(self._allocations)
        self._allocations.append(Allocation(obtained_for(size), call.point.op.place))
        self._events.append(number + 1)
        return size, number


def obtained_for(size: Quantity) -> Quantity:
    """What the pool obtains for a request; an empty one takes a page too."""
    page = WORKSPACE_PAGE_SIZE
    if isinstance(size, int):
        return max(1, -(-size // page)) * page
    return page * sympy.Max(1, FloorDiv(size + (page - 1), sympy.Integer(page)))
