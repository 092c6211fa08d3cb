"""The order in which the functions of a program can be looked at, callees first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

N = TypeVar("N")


def components(start: N, successors: Callable[[N], Iterable[N]]) -> list[tuple[N, ...]]:
    """What can be reached from `start`, in groups of which each reaches itself, every group after those that
    it leads to. Without recursion: chains of calls may be long.
    """
    found: list[tuple[N, ...]] = []
    number: dict[N, int] = {start: 0}
    lowest: dict[N, int] = {start: 0}
    open_: dict[N, None] = {start: None}
    path: list[tuple[N, Iterator[N]]] = [(start, iter(successors(start)))]
    while path:
        node, rest = path[-1]
        following = next((one for one in rest if one not in number or one in open_), None)
        if following is None:
            path.pop()
            if path:
                lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
            if lowest[node] == number[node]:
                found.append(_taken(open_, node))
        elif following in number:
            lowest[node] = min(lowest[node], number[following])
        else:
            number[following] = lowest[following] = len(number)
            open_[following] = None
            path.append((following, iter(successors(following))))
    return found


def _taken(open_: dict[N, None], first: N) -> tuple[N, ...]:
    """Takes the last nodes away, from `first` on."""
    members: list[N] = []
    while not members or members[-1] != first:
        members.append(open_.popitem()[0])
    return tuple(reversed(members))
