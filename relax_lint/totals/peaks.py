"""The peak of the live bytes of a walk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from weakref import proxy

import sympy

from relax_lint.model.operations import OperationId
from relax_lint.support.lazy_dataclass import record
from relax_lint.totals.cases import by_cases
from relax_lint.totals.formula import Sizes, Sum, greatest, undominated
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.walk import Allocation, Events


@record(frozen=True)
class Peak:
    """The largest sum of bytes alive at one time; `place` is the allocation that reaches it, where
    that does not depend on symbols.
    """

    size: Quantity
    place: OperationId | None


@record(frozen=True)
class Group:
    """Allocations that are counted together: all, or those of one memory scope or on one device."""

    scope: str | None = None
    device: int | None = None

    def counts(self, allocation: Allocation) -> bool:
        """Whether an allocation is one of them."""
        return self.scope in (None, allocation.scope) and self.device in (None, allocation.device)


ALL = Group()


def peak(walks: Iterable[Events], positive: frozenset[sympy.Symbol], group: Group = ALL) -> Peak:
    """The peak over all paths of the allocations that count. Raises Indeterminate where what one of them
    takes is not known.
    """
    walks = list(walks)
    require_known(walks, group)
    places: set[OperationId | None] = set()

    def of_case(alike: list[Events]) -> Quantity:
        found = _peak(alike, positive, group)
        places.add(found.place)
        return found.size

    size = by_cases(walks, of_case)
    return Peak(size, places.pop() if len(places) == 1 else None)


def _peak(walks: Sequence[Events], positive: frozenset[sympy.Symbol], group: Group) -> Peak:
    """The same where the symbols choose no branches."""
    sizes = Sizes(size for walk in walks for size in _sizes(walk, group))
    reached: dict[Sum, OperationId | None] = {}
    for walk in walks:
        for parts, place in _Course(walk, sizes, group).reached.items():
            reached.setdefault(parts, place)
    kept = undominated(reached)
    places = {sizes.quantity(parts): reached[parts] for parts in kept}
    most = greatest(places, positive)
    return Peak(most, places.get(most))


def require_known(walks: Iterable[Events], group: Group = ALL) -> None:
    """Raises Indeterminate where it is not known what one of the allocations takes that count."""
    for walk in walks:
        for allocation in _unknown(walk):
            if group.counts(allocation):
                raise Indeterminate(allocation.unknown or "")


def _unknown(walk: Events) -> tuple[Allocation, ...]:
    """The allocations of which it is not known what they take."""

    def unknown(stretch: Events) -> tuple[Allocation, ...]:
        own = [allocation for allocation in stretch.allocations if allocation.unknown is not None]
        return (*own, *(one for _, inner in stretch.inside for one in _unknown(inner)))

    return walk.find("unknown", unknown)


def scopes_of(walk: Events) -> frozenset[str]:
    """The memory scopes of all allocations."""
    return frozenset(scope for scope, _ in _places(walk))


def devices_of(walk: Events) -> frozenset[int]:
    """The devices of all allocations."""
    return frozenset(device for _, device in _places(walk))


def _places(walk: Events) -> frozenset[tuple[str, int]]:
    """The scopes and devices of all allocations."""

    def places(stretch: Events) -> frozenset[tuple[str, int]]:
        own = {(allocation.scope, allocation.device) for allocation in stretch.allocations}
        return frozenset(own.union(*(_places(inner) for _, inner in stretch.inside)))

    return walk.find("places", places)


def _sizes(walk: Events, group: Group) -> Iterator[Quantity]:
    """The sizes that count."""
    yield from (allocation.size for allocation in walk.allocations if group.counts(allocation))
    for _, inner in walk.inside:
        yield from _inner(inner, group).sizes.symbolic


def _inner(walk: Events, group: Group) -> _Course:
    """The course of what happens in calls that are alike."""

    def course(stretch: Events) -> _Course:
        found = _Course(stretch, Sizes(_sizes(stretch, group)), group)
        found.reached = {parts: found.reached[parts] for parts in undominated(found.reached)}
        return found

    return walk.find(group, course)


class _Course:
    """What is alive in the course of a walk, in terms of the `sizes`: `reached` are the sums of which one is
    the largest, each with the allocation that reaches it first, `left` is what is alive at the end and was
    not before.
    """

    def __init__(self, walk: Events, sizes: Sizes, group: Group) -> None:
        self.sizes = sizes
        self.reached: dict[Sum, OperationId | None] = {}
        self.left = [0] * (len(sizes.symbolic) + 1)
        # It may know this course: a reference back would keep both until the collector comes.
        self._walk: Events = proxy(walk)
        self._weights = [
            (sizes.index(a.size), a.size if isinstance(a.size, int) else 1) if group.counts(a) else (0, 0)
            for a in walk.allocations
        ]
        begin = 0
        for position, inner in walk.inside:
            self._follow(begin, position)
            self._call(_inner(inner, group))
            begin = position
        self._follow(begin, len(walk.events))

    def _follow(self, begin: int, end: int) -> None:
        """What is alive after the last allocation before memory is freed is more than before and after."""
        live, weights, allocations = self.left, self._weights, self._walk.allocations
        rising: OperationId | None = None
        has_risen = False
        for event in self._walk.events[begin:end]:
            if event > 0:
                index, weight = weights[event - 1]
                live[index] += weight
                if weight:
                    rising, has_risen = allocations[event - 1].place, True
            else:
                if has_risen:
                    self.reached.setdefault(tuple(live), rising)
                    has_risen = False
                index, weight = weights[-event - 1]
                live[index] -= weight
        if has_risen:
            self.reached.setdefault(tuple(live), rising)

    def _call(self, inner: _Course) -> None:
        positions = [0, *(self.sizes.index(size) for size in inner.sizes.symbolic)]

        def added(parts: Iterable[int]) -> list[int]:
            found = list(self.left)
            for position, part in zip(positions, parts, strict=True):
                found[position] += part
            return found

        for parts, place in inner.reached.items():
            self.reached.setdefault(tuple(added(parts)), place)
        self.left = added(inner.left)
