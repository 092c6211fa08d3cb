"""The tensors on one storage of which the first and the last byte are numbers: those that meet some bytes are
found without asking about all the others.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import islice

import sympy

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.events import Apart
from relax_lint.analysis.overlaps import ByteRange, TensorMemory
from relax_lint.model.operations import AllocTensor, Op, ValueId
from relax_lint.model.program import Function
from relax_lint.support.lazy_dataclass import record

SEVERAL = 3
"""With so many tensors on a storage a write may leave two others alone, which is told at once."""


@record(frozen=True)
class Stretch:
    """`length` bytes from `start`, both known."""

    start: int
    length: int

    def meets(self, other: Stretch) -> bool:
        """Whether a byte is in both; an empty one meets nothing."""
        return (
            self.length > 0
            and other.length > 0
            and self.start < other.start + other.length
            and other.start < self.start + self.length
        )


def stretch(bytes_: ByteRange) -> Stretch | None:
    """The bytes as numbers; None where they depend on a symbol, or are not known."""
    start, length = bytes_.start, bytes_.length
    if isinstance(start, sympy.Integer) and isinstance(length, sympy.Integer):
        return Stretch(int(start), int(length))
    return None


class PlacedTensors:
    """What is on one storage. Questions are asked in program order: a tensor that was used for the last time
    is never needed again.
    """

    def __init__(self) -> None:
        self._placed: dict[ValueId, tuple[Stretch, int]] = {}
        self._by_size: dict[int, list[tuple[int, ValueId]]] = defaultdict(list)
        """By the bits of the length, which is thus known to a factor of two: sorted by start."""
        self._filled: dict[ValueId, None] = {}
        self._needed: list[tuple[int, ValueId]] = []
        """The tensors that hold something, by their last use: a heap."""

    def add(self, tensor: ValueId, where: Stretch, last_use: int) -> None:
        """A tensor was allocated."""
        self._placed[tensor] = where, last_use
        insort(self._by_size[where.length.bit_length()], (where.start, tensor))

    def fill(self, tensor: ValueId) -> None:
        """A tensor holds something from now on, be it only in part or on some paths."""
        if tensor in self._placed and tensor not in self._filled:
            self._filled[tensor] = None
            heappush(self._needed, (self._placed[tensor][1], tensor))

    def needed(self, now: int) -> list[ValueId]:
        """The tensors that are used after the operation `now`."""
        return [tensor for tensor, (_, last_use) in self._placed.items() if last_use > now]

    def meeting(self, where: Stretch, now: int) -> list[ValueId]:
        """Those of them that share a byte with `where`."""
        found = []
        for bits, starts in self._by_size.items():
            first = bisect_left(starts, (where.start - (1 << bits) + 1,))
            last = bisect_left(starts, (where.start + where.length,))
            here = starts[first:last]
            alive = [entry for entry in here if self._placed[entry[1]][1] > now]
            if len(alive) < len(here):
                starts[first:last] = alive
            found += [tensor for _, tensor in alive if where.meets(self._placed[tensor][0])]
        return sorted(found)

    def others(self, excluded: set[ValueId], now: int) -> tuple[int, Callable[[], tuple[ValueId, ...]]]:
        """How many of them hold something, without some; and which, while nothing else is asked."""
        while self._needed and self._needed[0][0] <= now:
            heappop(self._needed)
        without = {tensor for tensor in excluded if tensor in self._filled}
        count = len(self._needed) - sum(self._placed[tensor][1] > now for tensor in without)
        if count == 1:
            only = next(tensor for _, tensor in self._needed if tensor not in without)
            return 1, lambda: (only,)
        before = len(self._filled)

        def all_of_them() -> tuple[ValueId, ...]:
            then = islice(self._filled, before)
            return tuple(t for t in then if self._placed[t][1] > now and t not in without)

        return count, all_of_them


class Neighbours:
    """The storages of a function with several tensors, and what their writes are found to leave alone.

    Only tensors are looked after that every name in the function shows as the same known bytes.
    """

    def __init__(self, function: Function, aliases: Aliases, memory: TensorMemory) -> None:
        self._memory = memory
        self._on: dict[ValueId, PlacedTensors] = {}
        self.apart: dict[tuple[int, ValueId, ValueId], Apart] = {}
        """By write, what is written and storage."""
        placed = _several_on_one(function, aliases)
        self._home = {tensor: storage for tensor, storage in placed.items() if self._stretch(tensor)}
        if self._home:
            self._leave_out(function, aliases)

    def _leave_out(self, function: Function, aliases: Aliases) -> None:
        """Tensors that have a name under which they are something else."""
        roots, home, fields = aliases.roots, self._home, aliases.fields
        # What may be the result of a call is read as that, too.
        for tensor in list(home) if roots.has_perhaps else ():
            if next(roots.perhaps_of(tensor), None) is not None:
                del home[tensor]
        for value in function.values:
            if value in fields:
                continue
            own = aliases.roots_of(value)
            for root in own:
                if root not in home or (root == value and len(own) == 1):
                    continue
                if len(own) > 1 or self._memory.range(value) != self._memory.range(root):
                    del home[root]

    def _stretch(self, value: ValueId) -> Stretch | None:
        return stretch(self._memory.range(value))

    def allocate(self, tensor: ValueId, last_use: int) -> bool:
        """Whether a tensor is looked after here."""
        where = self._stretch(tensor) if tensor in self._home else None
        if where is None:
            return False
        self._on.setdefault(self._home[tensor], PlacedTensors()).add(tensor, where, last_use)
        return True

    def fill(self, tensor: ValueId) -> None:
        """A tensor holds something from now on."""
        if tensor in self._home and self._home[tensor] in self._on:
            self._on[self._home[tensor]].fill(tensor)

    def hit(self, write: Op, written: ValueId, storage: ValueId, roots: frozenset[ValueId]) -> list[ValueId]:
        """The tensors that a write may overwrite; those that it does not are kept as one event."""
        placed = self._on.get(storage)
        if placed is None:
            return []
        now, where = write.place.index, self._stretch(written)
        if where is None:
            return placed.needed(now)
        meeting = placed.meeting(where, now)
        count, others = placed.others({*meeting, *roots}, now)
        if count:
            self.apart.setdefault((now, written, storage), Apart(write, written, count, others))
        return meeting


def _several_on_one(function: Function, aliases: Aliases) -> dict[ValueId, ValueId]:
    """The tensors of the storages that have several, each with its storage."""
    on: dict[ValueId, list[ValueId]] = defaultdict(list)
    for op in function.body.of(AllocTensor):
        if len(storages := aliases.roots.storages.get(op.result, ())) == 1:
            on[next(iter(storages))].append(op.result)
    return {t: storage for storage, tensors in on.items() if len(tensors) >= SEVERAL for t in tensors}
