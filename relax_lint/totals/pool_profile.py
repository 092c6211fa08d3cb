"""How many buffers of each size are alive at one time, in whole pages."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import proxy

from relax_lint.model.sizes import effective_capacity
from relax_lint.totals.quantities import Quantity
from relax_lint.totals.walk import Events, Pool
from relax_lint.vm.allocators import Allocator


def rounded(size: Quantity, page_size: int) -> Quantity:
    """A size in whole pages."""
    if isinstance(size, int):
        return int(Allocator.POOLED.obtains(size, page_size))
    return effective_capacity(Allocator.POOLED, size, page_size)


def pools_of(walk: Events) -> frozenset[Pool]:
    """The pools of all allocations."""

    def pools(stretch: Events) -> frozenset[Pool]:
        own = {allocation.pool for allocation in stretch.allocations}
        return frozenset(own.union(*(pools_of(inner) for _, inner in stretch.inside)))

    return walk.find("pools", pools)


def profile_of(walk: Events, pool: Pool, page_size: int) -> Profile:
    """That of the allocations of one pool."""
    return walk.find(("profile", pool, page_size), lambda stretch: Profile(stretch, pool, page_size))


class Profile:
    """How many buffers of each rounded size are alive over time. Allocations of other pools do not count.

    `classes` are the sizes that there are.
    """

    def __init__(self, walk: Events, pool: Pool, page_size: int) -> None:
        pages: dict[Quantity, Quantity] = {}
        for allocation in walk.allocations:
            if allocation.pool == pool and allocation.size not in pages:
                pages[allocation.size] = rounded(allocation.size, page_size)
        self._sizes = [pages[a.size] if a.pool == pool else None for a in walk.allocations]
        # It knows this profile: a reference back would keep both until the collector comes.
        self._walk: Events = proxy(walk)
        self._pool = pool
        self._page_size = page_size
        self._events = walk.events
        self._inside = [(position, profile_of(inner, pool, page_size)) for position, inner in walk.inside]
        self._left: dict[Quantity, int] = {}
        self._most: dict[Quantity, int] = {}
        self._count_each()
        self.classes = list(self._most)

    def most(self, *classes: Quantity) -> int:
        """The largest number of buffers of these sizes that are alive at one time."""
        return self._most[classes[0]] if len(classes) == 1 else self._of(frozenset(classes))[1]

    def peaks_together(self, classes: Iterable[Quantity]) -> bool:
        """Whether at one moment each of the sizes has as many buffers as it ever has."""
        classes = list(classes)
        return self.most(*classes) == sum(self.most(size) for size in classes)

    def _count_each(self) -> None:
        live, most, begin = self._left, self._most, 0
        for position, inner in (*self._inside, (len(self._events), None)):
            for event in self._events[begin:position]:
                size = self._sizes[abs(event) - 1]
                if size is not None:
                    now = live[size] = live.get(size, 0) + (1 if event > 0 else -1)
                    most[size] = max(most.get(size, 0), now)
            begin = position
            if inner is not None:
                self._add(inner)

    def _add(self, inner: Profile) -> None:
        for size, left in inner._left.items():
            before = self._left.get(size, 0)
            self._most[size] = max(self._most.get(size, 0), before + inner._most[size])
            self._left[size] = before + left

    def _of(self, classes: frozenset[Quantity]) -> tuple[int, int]:
        """How many of these are alive at the end, and at most."""

        def count(stretch: Events) -> tuple[int, int]:
            return profile_of(stretch, self._pool, self._page_size)._count(classes)

        return self._walk.find(("together", self._pool, self._page_size, classes), count)

    def _count(self, classes: frozenset[Quantity]) -> tuple[int, int]:
        counts = [size in classes for size in self._sizes]
        live = highest = begin = 0
        for position, inner in (*self._inside, (len(self._events), None)):
            for event in self._events[begin:position]:
                if counts[abs(event) - 1]:
                    live += 1 if event > 0 else -1
                    highest = max(highest, live)
            begin = position
            if inner is not None:
                left, most = inner._of(classes)
                highest = max(highest, live + most)
                live += left
        return live, highest
