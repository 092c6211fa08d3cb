"""Which casts of shapes only give names to sizes that a program computes, and who uses these."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy

from relax_lint.analysis.liveness import operands
from relax_lint.model.operations import MatchCast, Op, ValueId
from relax_lint.model.program import Function
from relax_lint.model.types import ShapeType, TupleType, ValueType, extents_of


class ComputedSizes:
    """Asked of one function."""

    def __init__(self, function: Function) -> None:
        self._function = function

    def is_only_named(self, cast: MatchCast) -> bool:
        """Whether a cast compares nothing: each extent is a symbol that was not there before."""
        extents = cast.type.extents if isinstance(cast.type, ShapeType) else None
        if extents is None:
            return True
        named = [one for one in extents if isinstance(one, sympy.Symbol)]
        known = set(self._of_values(self._function.parameters))
        known.update(
            symbol
            for op in self._function.body.of(MatchCast)
            if op.place.index < cast.place.index
            for symbol in _of_type(op.type)
        )
        return len(set(named) - known) == len(extents)

    def is_used(self, cast: MatchCast, is_asked: Callable[[Op], bool]) -> bool:
        """Whether one of the sizes that a cast names is that of what is returned, or of what some later
        operation uses of which that is asked.
        """
        named = set(_of_type(cast.type))
        if not named.isdisjoint(self._of_values((self._function.result,))):
            return True
        return any(
            not named.isdisjoint(self._of_values((*operands(op, self._function), op.result)))
            for op in self._function.body.walk()
            if op.place.index > cast.place.index and is_asked(op)
        )

    def _of_values(self, values: tuple[ValueId, ...]) -> Iterator[sympy.Symbol]:
        for value in values:
            yield from _of_type(self._function.type_of(value))


def _of_type(type_: ValueType) -> Iterator[sympy.Symbol]:
    """The symbols of the sizes in a type."""
    if isinstance(type_, TupleType):
        for one in type_.fields:
            yield from _of_type(one)
        return
    for extent in extents_of(type_):
        yield from sorted(extent.free_symbols, key=str)
