"""Every path through the branches of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

MAX_PATHS = 256
"""Paths through the branches of a function and its callees that are followed."""

W = TypeVar("W")


def every_path(follow: Callable[[tuple[bool, ...], int], tuple[W, tuple[bool, ...]]]) -> list[W]:
    """The walk of every path. `follow` walks one: it takes the decisions to begin with, and how many there
    may be until there are too many paths, and gives the walk with all its decisions.
    """
    found: list[W] = []
    pending: list[tuple[bool, ...]] = [()]
    while pending:
        prefix = pending.pop()
        # Each further decision is one more path.
        room = MAX_PATHS - len(found) - len(pending) - 1 + len(prefix)
        walk, taken = follow(prefix, room)
        found.append(walk)
        pending += [(*taken[:i], False) for i in range(len(prefix), len(taken))]
    return found
