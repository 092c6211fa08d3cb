"""What a value was made as: a tensor, a storage, a tuple, or nothing; the types of objects do not tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

import sympy

from relax_lint.analysis.callees import Callees
from relax_lint.model.operations import (
    Alias,
    AllocStorage,
    AllocTensor,
    Constant,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
    View,
)
from relax_lint.model.program import Function
from relax_lint.model.types import OpaqueType, PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm.builtins import GET_ITEM, MAKE_TUPLE, NULLS, ViewKind


class Made(Enum):
    """What something is to the virtual machine."""

    NULL = "null"
    TENSOR = "tensor"
    STORAGE = "storage"
    TUPLE = "tuple"
    SHAPE = "shape"
    NUMBER = "number"
    OTHER = "something else"


@record(frozen=True)
class Thing:
    """What a value of `function` is on some path: None where that is not known. `items` are the fields of a
    tuple.
    """

    function: Function
    made: Made | None
    items: tuple[ValueId, ...] = ()


_Asked: TypeAlias = frozenset[tuple[str, ValueId]]
_Through: TypeAlias = "Mapping[str, tuple[Function, FunctionCall]]"
"""The call by which a function was entered."""


class Things:
    """What the values of a program were made as."""

    def __init__(self, callees: Callees, functions: tuple[Function, ...]) -> None:
        self._callees = callees
        self._functions = functions
        self._definitions: dict[str, dict[ValueId, Op]] = {}

    @cached_property
    def are_claimed(self) -> bool:
        """Whether the type of a value may say something else than what the value was made as: only those of
        packed calls that give back what they were given do, and nothing makes them true.
        """
        return any(map(_claims, self._functions))

    def of(
        self,
        function: Function,
        value: ValueId,
        asked: _Asked = frozenset(),
        through: _Through = MappingProxyType({}),
    ) -> Iterator[Thing]:
        """What a value is, on one path or another; nothing of values that only lead to themselves."""
        for source in self._sources(function, value):
            yield from self._of_source(function, source, asked, through)

    def _sources(self, function: Function, value: ValueId) -> Iterator[ValueId]:
        """What a value is another name of, or is on one of the paths through branches: each once, as branches
        one after another may lead to the same values in ever more ways.
        """
        defined, seen, left = self._defined(function), {value}, [value]
        while left:
            one = left.pop()
            op = defined.get(one)
            found: tuple[ValueId, ...] = ()
            if isinstance(op, If):
                found = op.else_result, op.then_result
            elif isinstance(op, Alias) or (isinstance(op, View) and op.kind is ViewKind.COPY):
                found = (op.source,)
            else:
                yield one
            left += [source for source in found if source not in seen]
            seen.update(found)

    def _of_source(
        self, function: Function, value: ValueId, asked: _Asked, through: _Through
    ) -> Iterator[Thing]:
        key = function.name, value
        if key in asked:
            return
        asked |= {key}
        if value in function.inline_tuples:
            yield Thing(function, Made.TUPLE, function.inline_tuples[value])
            return
        op = self._defined(function).get(value)
        if op is None:
            yield from self._from_outside(function, value, asked, through)
        elif isinstance(op, MatchCast):
            yield from self._cast(function, op, asked, through)
        elif isinstance(op, GetItem):
            yield from self._field(function, op.tuple, op.item, asked, through)
        elif isinstance(op, KernelCall) and op.callee == GET_ITEM and len(op.arguments) == 2:
            number = getattr(function.type_of(op.arguments[1]), "value", None)
            yield from self._field(function, op.arguments[0], number, asked, through)
        elif isinstance(op, FunctionCall):
            callees = self._callees.all_of(op)
            for callee in callees:
                yield from self.of(callee, callee.result, asked, {**through, callee.name: (function, op)})
            if not callees:
                yield Thing(function, None)
        else:
            yield _made_by(op, function)

    def _cast(self, function: Function, op: MatchCast, asked: _Asked, through: _Through) -> Iterator[Thing]:
        """What goes through a cast: what the virtual machine looked at is what it asked for."""
        sure = _CHECKED.get(type(op.asked))
        if sure is not None:
            yield Thing(function, sure)
            return
        found = list(self.of(function, op.source, asked, through))
        if isinstance(op.asked, TupleType):
            found = [one for one in found if one.made in (None, Made.TUPLE)] or [Thing(function, None)]
        yield from found

    def _field(
        self,
        function: Function,
        value: ValueId,
        number: int | sympy.Expr | None,
        asked: _Asked,
        through: _Through,
    ) -> Iterator[Thing]:
        """What a field of a value is; the `number` of the field is None where only a run tells it."""
        for thing in self.of(function, value, asked, through):
            items = dict(enumerate(thing.items)) if thing.made is Made.TUPLE else {}
            if number is not None and number in items:
                entered = through if thing.function is function else MappingProxyType({})
                yield from self.of(thing.function, items[int(number)], asked, entered)
            else:
                yield Thing(function, None)

    def _from_outside(
        self, function: Function, value: ValueId, asked: _Asked, through: _Through
    ) -> Iterator[Thing]:
        """What the call gives by which a function was entered, or each of its callers."""
        outer = self._callees.closures.around(function)
        if value not in function.parameters and outer is not None:
            yield from self.of(outer, value, asked, through)
            return
        looked_at = self._looked_at(function, value)
        if looked_at is not None:
            yield Thing(function, looked_at)
            return
        if function.name in through:
            calls = [through[function.name]]
        else:
            calls = self._callees.calls_of(function) if self._callees.knows_callers(function) else []
        if value not in function.parameters or not calls:
            yield Thing(function, None)
            return
        for caller, call in calls:
            path = self._callees.passed(call, function).get(value)
            if path is None or path.fields:
                yield Thing(function, None)
            else:
                rest = {name: entered for name, entered in through.items() if name != function.name}
                yield from self.of(caller, path.value, asked, rest)

    def _looked_at(self, function: Function, value: ValueId) -> Made | None:
        """What the virtual machine made sure that a parameter is."""
        checked = function.parameters[: function.num_input]
        return _CHECKED.get(type(function.type_of(value))) if value in checked else None

    def _defined(self, function: Function) -> dict[ValueId, Op]:
        known = self._definitions.get(function.name)
        if known is None:
            known = self._definitions[function.name] = {op.result: op for op in function.body.walk()}
        return known


def _made_by(op: Op, function: Function) -> Thing:
    if isinstance(op, MakeTuple):
        return Thing(function, Made.TUPLE, op.items)
    if isinstance(op, KernelCall):
        if op.callee == MAKE_TUPLE:
            return Thing(function, Made.TUPLE, op.arguments)
        is_new = op.kind.allocates_result and isinstance(function.type_of(op.result), TensorType)
        return Thing(function, Made.NULL if op.callee in NULLS else Made.TENSOR if is_new else None)
    if isinstance(op, AllocStorage):
        return Thing(function, Made.STORAGE)
    if isinstance(op, AllocTensor) or (isinstance(op, Constant) and op.of is not None):
        return Thing(function, Made.TENSOR if isinstance(op, AllocTensor) else Made.SHAPE)
    return Thing(function, _CONSTANTS.get(type(op.type)) if isinstance(op, Constant) else None)


def _claims(function: Function) -> bool:
    return any(
        op.claimed is not None if isinstance(op, View) else op.callee == GET_ITEM
        for op in function.body.of(View, KernelCall)
    )


_CHECKED: dict[type[ValueType], Made] = {
    TensorType: Made.TENSOR,
    ShapeType: Made.SHAPE,
    PrimType: Made.NUMBER,
}
_CONSTANTS = {
    TensorType: Made.TENSOR,
    ShapeType: Made.SHAPE,
    PrimType: Made.NUMBER,
    OpaqueType: Made.OTHER,
}
