"""From where on the symbols of a function have a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import sympy

from relax_lint.model.operations import Block, If, MatchCast, Op, OperationId
from relax_lint.model.program import Function, Provenance
from relax_lint.model.types import PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Point:
    """A point of a function: right before an operation, or its entry (`before` None)."""

    before: OperationId | None


ENTRY = Point(None)


@dataclass(eq=False)
class _Inside:
    """By the index of each operation: its block with its position there, the branches around it, and the
    symbols that have a value right before it.
    """

    at: dict[int, tuple[Block, int]] = field(default_factory=dict)
    around: dict[int, tuple[int, ...]] = field(default_factory=dict)
    known: dict[int, frozenset[sympy.Symbol]] = field(default_factory=dict)


class Definitions:
    """Where an expression over symbols can be inserted."""

    def __init__(self, function: Function) -> None:
        self._function = function
        defined = {i.symbol for i in function.symbols if i.provenance is not Provenance.UNDEFINED}
        types = (function.type_of(value) for value in function.parameters)
        self.at_entry = frozenset(symbol for type_ in types for symbol in symbols_of(type_)) & defined
        """The symbols that have a value when the function is entered."""

    def known_at(self, place: OperationId) -> frozenset[sympy.Symbol]:
        """The symbols that have a value right before an operation."""
        return self._inside.known[place.index]

    @cached_property
    def _inside(self) -> _Inside:
        """Of each operation; most checks stand at the entry, for which nobody asks."""
        found = _Inside()
        self._walk(self._function.body, self.at_entry, (), found)
        return found

    def earliest(self, symbols: Iterable[sympy.Symbol], place: OperationId | None) -> Point | None:
        """The first point at which all symbols have a value and from which on the operation at `place`
        (None: the whole function) is always reached; None where there is none.

        It is in the block of the operation: ahead of an `If` around it a check would concern the other
        branch as well.
        """
        wanted = frozenset(symbols)
        if place is None:
            return ENTRY if wanted <= self.at_entry else None
        block, position = self._inside.at[place.index]
        for op in block.ops[: position + 1]:
            if wanted <= self._inside.known[op.place.index]:
                entry = block is self._function.body and op is block.ops[0]
                return ENTRY if entry else Point(op.place)
        return None

    def dominates(self, point: Point, other: Point) -> bool:
        """Whether whoever reaches `other` has passed `point`."""
        if point.before is None or other.before is None:
            return point.before is None
        at = self._inside.at
        block, position = at[point.before.index]
        indices = (other.before.index, *self._inside.around[other.before.index])
        return any(at[i][0] is block and at[i][1] >= position for i in indices)

    def _walk(
        self, block: Block, known: frozenset[sympy.Symbol], around: tuple[int, ...], found: _Inside
    ) -> frozenset[sympy.Symbol]:
        for position, op in enumerate(block.ops):
            index = op.place.index
            found.at[index], found.around[index], found.known[index] = (block, position), around, known
            if isinstance(op, If):
                inside = (*around, index)
                self._walk(op.then_block, known, inside, found)
                self._walk(op.else_block, known, inside, found)
            known |= self._defined_by(op)
        return known

    def _defined_by(self, op: Op) -> frozenset[sympy.Symbol]:
        if isinstance(op, MatchCast):
            return symbols_of(op.type)
        type_ = self._function.type_of(op.result)
        return symbols_of(type_) if isinstance(type_, PrimType) else frozenset()


def symbols_of(type_: ValueType) -> frozenset[sympy.Symbol]:
    """The symbols that a type mentions."""
    if isinstance(type_, TupleType):
        return frozenset(symbol for field in type_.fields for symbol in symbols_of(field))
    extents: tuple[sympy.Expr, ...] = ()
    if isinstance(type_, TensorType):
        extents = type_.shape or ()
    elif isinstance(type_, ShapeType):
        extents = type_.extents or ()
    elif isinstance(type_, PrimType) and type_.value is not None:
        extents = (type_.value,)
    return frozenset(symbol for extent in extents for symbol in extent.free_symbols)
