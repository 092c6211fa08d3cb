"""The position of an operation in the tree of branches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from relax_lint.model.operations import Block, If, Op, ValueId
from relax_lint.model.program import Function

Path: TypeAlias = tuple[tuple[int, bool], ...]
"""The branches around an operation, outermost first: the index of each `If`, and True in its then-branch."""


class Paths:
    """The branches around every operation of a function."""

    def __init__(self, function: Function) -> None:
        self._paths: dict[int, Path] = {}
        self.definitions: dict[ValueId, Op] = {}
        """The operation that makes each value."""
        for op, path in _walk(function.body, ()):
            self._paths[op.place.index] = path
            self.definitions[op.result] = op

    def of(self, op: Op | None) -> Path:
        """The branches around an operation; None is the end of the function."""
        return () if op is None else self._paths[op.place.index]

    def always_with(self, op: Op | None, other: Op | None) -> bool:
        """Whether every execution of `other` executes `op` as well."""
        path = self.of(op)
        return self.of(other)[: len(path)] == path

    def one_always_with(self, ops: Iterable[Op | None], other: Op | None) -> bool:
        """Whether every execution of `other` executes one of `ops` as well, in each branch another."""
        found = {self.of(op) for op in ops}
        for path in sorted(found, key=len, reverse=True):
            self._shorten(path, found)
        around = self.of(other)
        return any(around[:length] in found for length in range(len(around) + 1))

    @staticmethod
    def _shorten(path: Path, found: set[Path]) -> None:
        """Both branches of an `If` are the block that it is in."""
        while path and (*path[:-1], (path[-1][0], not path[-1][1])) in found:
            path = path[:-1]
            found.add(path)

    def never_with(self, op: Op, other: Op) -> bool:
        """Whether the two are in different branches of one `If`."""
        taken = dict(self.of(op))
        return any(taken.get(index, choice) != choice for index, choice in self.of(other))


def _walk(block: Block, path: Path) -> Iterator[tuple[Op, Path]]:
    for op in block.ops:
        yield op, path
        if isinstance(op, If):
            yield from _walk(op.then_block, (*path, (op.place.index, True)))
            yield from _walk(op.else_block, (*path, (op.place.index, False)))
