"""The workspace pool followed with numbers is the one that is followed with formulas."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from relax_lint.totals.concrete import Path
from relax_lint.totals.kernel_memory import CallWorkspaces
from relax_lint.totals.pool_numbers import Followed, pool_of
from relax_lint.totals.walk import Allocation, CallPoint, Walk
from relax_lint.totals.workspaces import _in_formulas
from relax_lint.vm.allocators import Allocator

SIZES = st.sampled_from([0, 1, 4096, 4097, 5000, 8192, 8200, 20_000])


@st.composite
def _events(draw: Any, most: int) -> tuple[int, ...]:
    """Beginnings and ends of things, numbered in the order in which they begin."""
    events: list[int] = []
    opened: list[int] = []
    number = 0
    for begins in draw(st.lists(st.booleans(), max_size=3 * most)):
        if begins and number < most:
            number += 1
            opened.append(number)
            events.append(number)
        elif not begins and opened:
            events.append(-opened.pop(draw(st.integers(0, len(opened) - 1))))
    return tuple(events)


@st.composite
def _paths(draw: Any) -> Path:
    walk = Walk(events=list(draw(_events(5))))
    walk.allocations = [Allocation(draw(SIZES), None, device=draw(st.integers(0, 1))) for _ in range(5)]
    requests = []
    moment = 0
    for _ in range(draw(st.integers(0, 4))):
        moment = draw(st.integers(moment, len(walk.events)))
        opened = draw(_events(4))
        events = (*opened, *(-one for one in opened if one > 0 and -one not in opened))
        threaded = draw(st.sets(st.integers(0, 3)))
        sizes = tuple(draw(SIZES) for _ in range(4))
        requests.append(CallWorkspaces(_Point(moment), sizes, events, frozenset(threaded)))
    return Path(walk, tuple(requests))


class _Point(CallPoint):
    """A call of which nothing but the moment matters."""

    def __init__(self, moment: int) -> None:
        vars(self).update(moment=moment, op=_Op())


class _Op:
    place = None


@given(st.lists(_paths(), min_size=1, max_size=2))
def test_both_ways_give_the_same_totals(paths: list[Path]) -> None:
    held, per_worker, together = _in_formulas(paths, 4096, frozenset())
    each = [Followed(path) for path in paths]
    assert held == max(one.held for one in each)
    assert per_worker == max(one.of_worker for one in each)
    assert together[Allocator.NAIVE] == max(one.together for one in each)
    pools = [pool_of(path.walk, 4096) + one.held for path, one in zip(paths, each, strict=True)]
    assert together[Allocator.POOLED] == max(pools)
