"""What the pools hold where every size is a number: as `pooled` and `workspaces.py` have it with formulas, in
one pass for all totals. A range may have thousands of values, each of which is followed.
"""

from __future__ import annotations

from collections.abc import Sequence

from relax_lint.totals.concrete import Path
from relax_lint.totals.kernel_memory import CallWorkspaces
from relax_lint.totals.pool_profile import rounded
from relax_lint.totals.walk import Walk
from relax_lint.vm.scopes import SHARED_BUFFER_BYTES
from relax_lint.vm.workspaces import WORKSPACE_PAGE_SIZE


class Followed:
    """The most bytes along one path: `held` by the pool, `of_worker` by that of a thread which only helps,
    `together` by the pool and what the walk allocates.
    """

    def __init__(self, path: Path) -> None:
        walk, alive = path.walk, _Alive(path.walk)
        pool = _NumberPool()
        self.together = 0
        for call in path.requests:
            self.together = max(self.together, alive.until(call.point.moment) + pool.held)
            pool.most = pool.held
            pool.serve(call, call.events)
            self.together = max(self.together, alive.now + pool.most)
        self.together = max(self.together, alive.until(len(walk.events)) + pool.held)
        self.held = pool.ever
        worker = _NumberPool()
        for call in path.requests:
            if call.threaded:
                worker.serve(call, call.of_a_worker().events)
        self.of_worker = worker.ever


class _Alive:
    """What a walk has allocated: the bytes `now`, and the most on the way to a moment."""

    def __init__(self, walk: Walk) -> None:
        self._sizes = [int(allocation.size) for allocation in walk.allocations]
        self._events: Sequence[int] = walk.events
        self._done = 0
        self.now = 0

    def until(self, moment: int) -> int:
        """The most from the present moment up to another one."""
        most = now = self.now
        sizes = self._sizes
        for event in self._events[self._done : moment]:
            if event > 0:
                now += sizes[event - 1]
                most = max(most, now)
            else:
                now -= sizes[-event - 1]
        self._done, self.now = max(moment, self._done), now
        return most


class _NumberPool:
    """The buffers of the pool: `held` bytes now, `ever` at most, `most` since somebody set it."""

    def __init__(self) -> None:
        self.held = self.ever = self.most = 0
        self._free: list[tuple[int, int]] = []
        """What each buffer that nobody uses takes, and the size that was asked for."""

    def serve(self, call: CallWorkspaces, events: Sequence[int]) -> None:
        """The requests of one call and their ends."""
        taken: dict[int, tuple[int, int]] = {}
        for event in events:
            if event > 0:
                taken[event - 1] = self._take(int(call.sizes[event - 1]))
            else:
                self._free.append(taken.pop(-event - 1))

    def _take(self, size: int) -> tuple[int, int]:
        free, wanted = self._free, _pages(size)
        if not free:
            return self._obtain(size, wanted)
        if len(free) == 1:
            # Of a single buffer TVM compares what was asked for, of several what they take.
            if free[0][1] >= size:
                return free.pop()
        else:
            free.sort(key=_taken)
            for position, (pages, _) in enumerate(free):
                if pages >= wanted:
                    return free.pop(position)
        self.held -= free.pop()[0]
        return self._obtain(size, wanted)

    def _obtain(self, size: int, pages: int) -> tuple[int, int]:
        self.held += pages
        self.most, self.ever = max(self.most, self.held), max(self.ever, self.held)
        return pages, size


def _taken(buffer: tuple[int, int]) -> int:
    return buffer[0]


def _pages(size: int) -> int:
    return max(1, -(-size // WORKSPACE_PAGE_SIZE)) * WORKSPACE_PAGE_SIZE


def pool_of(walk: Walk, page_size: int) -> int:
    """As `pooled`, for numbers: so many buffers of each size as are alive at one time."""
    pages = [(a.pool, int(rounded(a.size, page_size))) for a in walk.allocations]
    live = dict.fromkeys(pages, 0)
    most = dict(live)
    for event in walk.events:
        kind = pages[abs(event) - 1]
        live[kind] += 1 if event > 0 else -1
        most[kind] = max(most[kind], live[kind])
    besides = {True: SHARED_BUFFER_BYTES, False: 0}
    return sum((size + besides[pool[1]]) * number for (pool, size), number in most.items())
