"""Allocations, each with how many refer to it: it ends with the last reference."""

from __future__ import annotations

from typing import Any

from relax_lint.totals.frame import Reference
from relax_lint.totals.walk import Allocation


class Counted:
    """The allocations of a walk, and the references to them."""

    def __init__(self) -> None:
        self._allocations: list[Allocation] = []
        self._references: list[int] = []
        self._tuples: dict[int, list[Any]] = {}
        """By identity: the tuples that something refers to, each with how often."""

    def _happens(self, event: int) -> None:
        """An allocation begins or ends, see `Events`."""
        raise NotImplementedError

    def _count(self, reference: Reference, change: int) -> None:
        if isinstance(reference, tuple):
            self._count_tuple(reference, change)
            return
        if reference is None or reference < 0:
            # It belongs to who called, and holds it until the call returns.
            return
        left = self._references[reference] = self._references[reference] + change
        if left == 0:
            self._happens(-(reference + 1))

    def _count_tuple(self, reference: tuple[Reference, ...], change: int) -> None:
        """A tuple refers to its fields once, however many refer to it: it may hold tuples, too."""
        counted = self._tuples.setdefault(id(reference), [reference, 0])
        counted[1] += change
        if counted[1] == 0:
            del self._tuples[id(reference)]
        if counted[1] == max(change, 0):
            for item in reference:
                self._count(item, change)

    def _allocate(self, allocation: Allocation) -> int:
        number = self._adopt(allocation)
        self._happens(number + 1)
        return number

    def _adopt(self, allocation: Allocation) -> int:
        """The number of a new allocation, without references yet."""
        self._allocations.append(allocation)
        self._references.append(0)
        return len(self._allocations) - 1
