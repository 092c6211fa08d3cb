"""What a value was made as: a tensor, a storage, a tuple, or nothing; the types of objects do not tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

import sympy

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.followed import Followed
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
from relax_lint.vm.calls import CLOSURE_MAKERS


class Made(Enum):
    """What something is to the virtual machine."""

    NULL = "null"
    TENSOR = "tensor"
    STORAGE = "storage"
    TUPLE = "tuple"
    SHAPE = "shape"
    NUMBER = "number"
    FUNCTION = "function"
    OTHER = "something else"


@record(frozen=True)
class Thing:
    """What a value of `function` is on some path: None where that is not known. `items` are the fields of a
    tuple.
    """

    function: Function
    made: Made | None
    items: tuple[ValueId, ...] = ()


_Key: TypeAlias = tuple[str, ValueId]
_Asked: TypeAlias = frozenset[_Key]
_Through: TypeAlias = "Mapping[str, tuple[Function, FunctionCall]]"
"""The call by which a function was entered."""
_MOST = 300
"""Values that are looked at to tell what one is. Functions that call each other in all ways have more."""


class _TooMany(Exception):
    """More values than are looked at lead to one."""


class Things:
    """What the values of a program were made as."""

    def __init__(self, callees: Callees, functions: tuple[Function, ...]) -> None:
        self._callees = callees
        self._functions = functions
        self._definitions: dict[str, dict[ValueId, Op]] = {}
        self._known: Followed[list[Thing]] = Followed([], [Thing(one, None) for one in functions[:1]])

    @cached_property
    def are_claimed(self) -> bool:
        """Whether the type of a value may say something else than what the value was made as: only those of
        packed calls that give back what they were given do, and nothing makes them true.
        """
        return any(map(_claims, self._functions))

    def of(self, function: Function, value: ValueId, through: _Through = MappingProxyType({})) -> list[Thing]:
        """What a value is, on one path or another; nothing of values that only lead to themselves."""
        sources = self._sources(function, value)
        return _each_once(one for source in sources for one in self._of_source(function, source, through))

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

    def _of_source(self, function: Function, value: ValueId, through: _Through) -> list[Thing]:
        """The same of a value that is no other name."""
        return self._known.answer(
            (function.name, value),
            lambda: _each_once(self._found(function, value, through)),
            frozenset((name, id(call)) for name, (_, call) in through.items()),
        )

    def _found(self, function: Function, value: ValueId, through: _Through) -> Iterator[Thing]:
        if value in function.inline_tuples:
            yield Thing(function, Made.TUPLE, function.inline_tuples[value])
            return
        op = self._defined(function).get(value)
        if op is None:
            yield from self._from_outside(function, value, through)
        elif isinstance(op, MatchCast):
            yield from self._cast(function, op, through)
        elif isinstance(op, GetItem):
            yield from self._field(function, op.tuple, op.item, through)
        elif isinstance(op, KernelCall) and op.callee == GET_ITEM and len(op.arguments) == 2:
            number = getattr(function.type_of(op.arguments[1]), "value", None)
            yield from self._field(function, op.arguments[0], number, through)
        elif isinstance(op, FunctionCall):
            callees = self._callees.all_of(op)
            for callee in callees:
                yield from self.of(callee, callee.result, {**through, callee.name: (function, op)})
            if not callees:
                yield Thing(function, None)
        else:
            yield _made_by(op, function)

    def _cast(self, function: Function, op: MatchCast, through: _Through) -> Iterator[Thing]:
        """What goes through a cast: what the virtual machine looked at is what it asked for."""
        sure = _CHECKED.get(type(op.asked))
        if sure is not None:
            yield Thing(function, sure)
            return
        found = self.of(function, op.source, through)
        if isinstance(op.asked, TupleType):
            found = [one for one in found if one.made in (None, Made.TUPLE)] or [Thing(function, None)]
        yield from found

    def _field(
        self,
        function: Function,
        value: ValueId,
        number: int | sympy.Expr | None,
        through: _Through,
    ) -> Iterator[Thing]:
        """What a field of a value is; the `number` of the field is None where only a run tells it."""
        for thing in self.of(function, value, through):
            items = dict(enumerate(thing.items)) if thing.made is Made.TUPLE else {}
            if number is not None and number in items:
                entered = through if thing.function is function else MappingProxyType({})
                yield from self.of(thing.function, items[int(number)], entered)
            else:
                yield Thing(function, None)

    def _from_outside(self, function: Function, value: ValueId, through: _Through) -> Iterator[Thing]:
        """What the call gives by which a function was entered, or each of its callers; what is written in the
        place of a value itself.
        """
        if value not in function.parameters:
            outer = self._callees.closures.around(function)
            if outer is not None and value in self._callees.closures.visible(function):
                yield from self.of(outer, value, through)
            else:
                is_named = bool(function.values[value].name)
                yield Thing(function, None if is_named else _constant(function.type_of(value)))
            return
        looked_at = self._looked_at(function, value)
        if looked_at is not None:
            yield Thing(function, looked_at)
            return
        is_entered = function.name in through
        calls = [through[function.name]] if is_entered else self._callees.calls_of(function)
        if not calls or not (is_entered or self._callees.knows_callers(function)):
            yield Thing(function, None)
        for caller, call in calls:
            path = self._callees.passed(call, function).get(value)
            if path is None or path.fields:
                yield Thing(function, None)
            else:
                rest = {name: entered for name, entered in through.items() if name != function.name}
                yield from self.of(caller, path.value, rest)

    def _looked_at(self, function: Function, value: ValueId) -> Made | None:
        """What the virtual machine made sure that a parameter is."""
        checked = function.parameters[: function.num_input]
        return _CHECKED.get(type(function.type_of(value))) if value in checked else None

    def _defined(self, function: Function) -> dict[ValueId, Op]:
        known = self._definitions.get(function.name)
        if known is None:
            known = self._definitions[function.name] = {op.result: op for op in function.body.walk()}
        return known


def _each_once(things: Iterable[Thing]) -> list[Thing]:
    return list({(one.function.name, one.made, one.items): one for one in things}.values())


def _made_by(op: Op, function: Function) -> Thing:
    if isinstance(op, MakeTuple):
        return Thing(function, Made.TUPLE, op.items)
    if isinstance(op, KernelCall):
        if op.callee == MAKE_TUPLE:
            return Thing(function, Made.TUPLE, op.arguments)
        if op.callee in CLOSURE_MAKERS:
            return Thing(function, Made.FUNCTION)
        is_new = op.kind.allocates_result and isinstance(function.type_of(op.result), TensorType)
        return Thing(function, Made.NULL if op.callee in NULLS else Made.TENSOR if is_new else None)
    if isinstance(op, AllocStorage):
        return Thing(function, Made.STORAGE)
    if isinstance(op, AllocTensor) or (isinstance(op, Constant) and op.of is not None):
        return Thing(function, Made.TENSOR if isinstance(op, AllocTensor) else Made.SHAPE)
    return Thing(function, _constant(op.type) if isinstance(op, Constant) else None)


def _constant(type_: ValueType) -> Made | None:
    """What something is that is written as it is: its type tells."""
    if isinstance(type_, OpaqueType):
        return _OBJECTS.get(type_.text)
    return _CHECKED.get(type(type_))


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
_OBJECTS = {
    "Function": Made.FUNCTION,
    "GlobalVar": Made.FUNCTION,
    "ExternFunc": Made.FUNCTION,
    "DataTypeImm": Made.OTHER,
    "StringImm": Made.OTHER,
}
"""By what is written."""
