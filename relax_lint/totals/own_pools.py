"""Scopes that have a pool of their own, which gives nothing back, whichever allocator the machine has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy

from relax_lint.totals.peaks import scopes_of
from relax_lint.totals.pool_profile import rounded
from relax_lint.totals.pools import COINCIDENCES, may_be_equal
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.walk import Events, Walk
from relax_lint.vm.scopes import SHARED_BUFFER_BYTES, has_pool_of_its_own


def has_own_pools(walk: Events) -> bool:
    """Whether something is allocated in such a scope."""
    return any(map(has_pool_of_its_own, scopes_of(walk)))


def with_own_pools(walk: Walk, page_size: int, positive: frozenset[sympy.Symbol]) -> Walk:
    """The walk with what such pools obtain in place of their storages, and as many events. What else is in it
    comes from the naive allocator. Raises Indeterminate where it depends on the symbols what they reuse.
    """
    if not has_own_pools(walk):
        return walk
    pages = [rounded(a.size, page_size) if a.pool[1] else None for a in walk.allocations]
    _require_distinct([size for size in pages if size is not None], page_size, positive)
    # What is reused, and what is not given back, is an event of an allocation of nothing.
    allocations = [
        a if size is None else replace(a, size=0) for a, size in zip(walk.allocations, pages, strict=True)
    ]
    events: list[int] = []
    free: dict[tuple[int, Quantity], int] = {}
    for event in walk.events:
        number = abs(event) - 1
        size, device = pages[number], walk.allocations[number].device
        if size is not None:
            spare = free.get((device, size), 0)
            free[device, size] = spare + 1 if event < 0 else max(spare - 1, 0)
            if event > 0 and not spare:
                allocations.append(replace(walk.allocations[number], size=size + SHARED_BUFFER_BYTES))
                event = len(allocations)
        events.append(event)
    return replace(walk, allocations=allocations, events=events)


def _require_distinct(sizes: Sequence[Quantity], page_size: int, positive: frozenset[sympy.Symbol]) -> None:
    """Raises Indeterminate where two sizes are equal for some values of the symbols only."""
    classes = list(dict.fromkeys(sizes))
    for number, size in enumerate(classes):
        if any(may_be_equal(size, other, page_size, positive) for other in classes[:number]):
            raise Indeterminate(COINCIDENCES)
