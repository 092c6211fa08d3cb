"""What a value was made as: a tensor, a storage, a tuple, or nothing; the types of objects do not tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cached_property, partial
from types import MappingProxyType
from typing import TypeAlias

import sympy

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.followed import Finding, Followed, Question
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
    tuple, or what a function or closure holds.
    """

    function: Function
    made: Made | None
    items: tuple[ValueId, ...] = ()


_Key: TypeAlias = tuple[str, ValueId]
_Asked: TypeAlias = frozenset[_Key]
_Through: TypeAlias = "Mapping[str, tuple[Function, FunctionCall]]"
"""The call by which a function was entered."""


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

    def of(self, function: Function, value: ValueId) -> list[Thing]:
        """What a value is, on one path or another; nothing of values that only lead to themselves."""
        sources = self._sources(function, value)
        return _each_once(
            one for source in sources for one in self._known.answer(self._asked(function, source, {}))
        )

    def _of(self, function: Function, value: ValueId, through: _Through) -> Finding[list[Thing]]:
        """The same, where calls led to the function."""
        found: list[Thing] = []
        for source in self._sources(function, value):
            found += yield self._asked(function, source, through)
        return _each_once(found)

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

    def _asked(self, function: Function, value: ValueId, through: _Through) -> Question[list[Thing]]:
        """The same of a value that is no other name."""
        return Question(
            (function.name, value),
            partial(self._found, function, value, through),
            frozenset((name, id(call)) for name, (_, call) in through.items()),
        )

    def _found(self, function: Function, value: ValueId, through: _Through) -> Finding[list[Thing]]:
        if value in function.inline_tuples:
            return [Thing(function, Made.TUPLE, function.inline_tuples[value])]
        op = self._defined(function).get(value)
        if op is None:
            return (yield from self._from_outside(function, value, through))
        if isinstance(op, MatchCast):
            return (yield from self._cast(function, op, through))
        if isinstance(op, GetItem):
            things = yield from self._of(function, op.tuple, through)
            return (yield from self._field(function, things, op.item, through))
        if isinstance(op, KernelCall) and op.callee == GET_ITEM and len(op.arguments) == 2:
            number = getattr(function.type_of(op.arguments[1]), "value", None)
            things = yield from self._of(function, op.arguments[0], through)
            return (yield from self._field(function, things, number, through))
        if isinstance(op, FunctionCall):
            return (yield from self._returned(function, op, through))
        closure = self._callees.closures.of(function).get(value)
        return [_made_by(op, function, () if closure is None else closure.held)]

    def _returned(self, function: Function, op: FunctionCall, through: _Through) -> Finding[list[Thing]]:
        callees = self._callees.all_of(op)
        found: list[Thing] = []
        for callee in callees:
            found += yield from self._of(callee, callee.result, {**through, callee.name: (function, op)})
        return _each_once(found) if callees else [Thing(function, None)]

    def _cast(self, function: Function, op: MatchCast, through: _Through) -> Finding[list[Thing]]:
        """What goes through a cast: what the virtual machine looked at is what it asked for."""
        sure = _CHECKED.get(type(op.asked))
        if sure is not None:
            return [Thing(function, sure)]
        found = yield from self._of(function, op.source, through)
        if isinstance(op.asked, TupleType):
            return [one for one in found if one.made in (None, Made.TUPLE)] or [Thing(function, None)]
        return found

    def _field(
        self,
        function: Function,
        things: list[Thing],
        number: int | sympy.Expr | None,
        through: _Through,
        of: Made = Made.TUPLE,
    ) -> Finding[list[Thing]]:
        """What a field of a value is that is one of `things`; the `number` of the field is None where only a
        run tells it.
        """
        found: list[Thing] = []
        for thing in things:
            items = dict(enumerate(thing.items)) if thing.made is of else {}
            if number in items:
                entered = through if thing.function is function else MappingProxyType({})
                found += yield from self._of(thing.function, items[int(number)], entered)
            else:
                found.append(Thing(function, None))
        return _each_once(found)

    def _from_outside(self, function: Function, value: ValueId, through: _Through) -> Finding[list[Thing]]:
        """What the call gives by which a function was entered, or each of its callers; what is written in the
        place of a value itself.
        """
        if value not in function.parameters:
            outer = self._callees.closures.around(function)
            if outer is not None and value in self._callees.closures.visible(function):
                return (yield from self._of(outer, value, through))
            is_named = bool(function.values[value].name)
            return [Thing(function, None if is_named else _constant(function.type_of(value)))]
        looked_at = self._looked_at(function, value)
        if looked_at is not None:
            return [Thing(function, looked_at)]
        is_entered = function.name in through
        calls = [through[function.name]] if is_entered else self._callees.calls_of(function)
        known = bool(calls) and (is_entered or self._callees.knows_callers(function))
        found = [] if known else [Thing(function, None)]
        rest = {name: entered for name, entered in through.items() if name != function.name}
        for caller, call in calls:
            path = self._callees.passed(call, function).get(value)
            if path is None:
                found.append(Thing(function, None))
                continue
            things = yield from self._of(caller, path.value, rest)
            for number in path.fields:
                # What a closure holds is given behind the arguments of its call.
                things = yield from self._field(caller, things, number, rest, Made.FUNCTION)
            found += things
        return _each_once(found)

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


def _made_by(op: Op, function: Function, held: tuple[ValueId, ...]) -> Thing:
    if isinstance(op, MakeTuple):
        return Thing(function, Made.TUPLE, op.items)
    if isinstance(op, KernelCall):
        if op.callee == MAKE_TUPLE:
            return Thing(function, Made.TUPLE, op.arguments)
        if op.callee in CLOSURE_MAKERS:
            return Thing(function, Made.FUNCTION, held)
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
