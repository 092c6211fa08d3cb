"""Stores of which nobody can read anything: the next store to the same element comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from relax_lint.vm import comparing, nodes


def stored_anew(statements: Sequence[Any], memory_of: Callable[[Any], Hashable]) -> frozenset[int]:
    """The numbers of these statements, each after the one before it, that store an element which a later one
    stores again, with nothing but stores in between that do not load from that memory. `memory_of` tells the
    memory of a buffer variable from others.
    """
    stores = [_is_store(one) for one in statements]
    times = Counter(one.buffer for one, is_store in zip(statements, stores, strict=True) if is_store)
    if max(times.values(), default=0) < 2:
        return frozenset()
    found: set[int] = set()
    later: dict[Any, list[tuple[Any, ...]]] = {}
    for number in reversed(range(len(statements))):
        if not stores[number]:
            later.clear()
            continue
        store = statements[number]
        indices = tuple(store.indices)
        known = later.setdefault(store.buffer, [])
        if any(all(map(comparing.are_equal, indices, others)) for others in known):
            found.add(number)
        known.append(indices)
        parts = (store.value, *indices)
        if not all(map(nodes.only_computes, parts)):
            later.clear()
        loads = [load for part in parts for load in filter(nodes.is_load, nodes.nodes_of(part))]
        for buffer, stored in later.items():
            memory = memory_of(buffer)
            here = [load for load in loads if memory_of(nodes.loaded_buffer(load)) == memory]
            stored[:] = [one for one in stored if not any(_may_meet(load, buffer, one) for load in here)]
    return frozenset(found)


def _is_store(statement: Any) -> bool:
    return type(statement).__name__ == "BufferStore" and getattr(statement, "predicate", None) is None


def _may_meet(load: Any, buffer: Any, indices: Sequence[Any]) -> bool:
    """Whether a load may come to an element of a buffer: two numbers that differ are two elements."""
    if nodes.loaded_buffer(load) is not buffer and not nodes.loaded_buffer(load).same_as(buffer):
        return True
    return not any(
        nodes.is_kernel_constant(one)
        and nodes.is_kernel_constant(other)
        and int(one.value) != int(other.value)
        for one, other in zip(load.indices, indices, strict=True)
    )
