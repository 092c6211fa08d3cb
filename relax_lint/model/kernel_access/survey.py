"""What is stored somewhere in a statement, and how it may be left."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypeAlias

from relax_lint.vm import nodes
from relax_lint.vm.exits import BREAK, CONTINUE, RETURN, exit_of

Found: TypeAlias = "tuple[frozenset[int], frozenset[str]]"
"""The addresses of the buffers that are stored to, and the ways out but those of the loops inside."""

_NOTHING: Found = frozenset(), frozenset()


class Survey:
    """The stores and ways out of every statement."""

    def __init__(self) -> None:
        self._found: dict[int, Found] = {}
        self.stored: set[int] = set()
        self._blocks: list[Any] = []

    def of(self, node: Any) -> Found:
        """What is in a statement."""
        address = node.__chandle__()
        found = self._found.get(address)
        if found is None:
            found = self._found[address] = self._read(node)
        return found

    @cached_property
    def aligned(self) -> Mapping[int, bool]:
        """The addresses of the buffers in which TVM leaves gaps (`storage_align`), and whether there are some
        between the elements of a row.
        """
        found: dict[int, bool] = {}
        for block in self._blocks:
            for number, axis, *_ in (
                block.annotations.get("buffer_dim_align", ()) if block.annotations else ()
            ):
                buffer = nodes.region_source(block.writes[int(number)])
                address = buffer.__chandle__()
                is_last = not 0 <= int(axis) < len(buffer.shape) - 1
                found[address] = found.get(address, False) or is_last
        return found

    def _read(self, node: Any) -> Found:
        kind = type(node).__name__
        if kind == "BufferStore":
            address = node.buffer.__chandle__()
            self.stored.add(address)
            return frozenset((address,)), frozenset()
        if kind == "SeqStmt":
            return _joined([self.of(statement) for statement in node.seq])
        if kind == "For":
            stores, exits = self.of(node.body)
            return stores, exits & {RETURN}
        if kind == "While":
            stores, exits = self.of(node.body)
            return stores, exits & {RETURN}
        if kind == "IfThenElse":
            parts = [node.then_case] if node.else_case is None else [node.then_case, node.else_case]
            return _joined([self.of(part) for part in parts])
        if kind == "AttrStmt":
            return self.of(node.body)
        if kind == "SBlockRealize":
            init = node.block.init
            self._blocks.append(node.block)
            inner = [node.block.body] if init is None else [init, node.block.body]
            return _joined([self.of(part) for part in inner])
        left = exit_of(node)
        return _NOTHING if left is None else (frozenset(), frozenset((left,)))


def _joined(parts: list[Found]) -> Found:
    if not parts:
        return _NOTHING
    return frozenset().union(*(p[0] for p in parts)), frozenset().union(*(p[1] for p in parts))


def always_leaves(node: Any) -> bool:
    """Whether a statement surely leaves the loop step, or the kernel, in which it stands."""
    kind = type(node).__name__
    if kind == "SeqStmt":
        return any(always_leaves(statement) for statement in node.seq)
    if kind == "IfThenElse":
        return always_leaves(node.then_case) and always_leaves(node.else_case)
    return exit_of(node) in (BREAK, CONTINUE, RETURN)
