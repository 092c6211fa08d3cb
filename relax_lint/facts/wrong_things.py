"""RLX505, beside the conditions: what is given something that it cannot do with.

The virtual machine takes a tensor, and gets a null value or a storage, say.
"""

from __future__ import annotations

from collections.abc import Iterator

from relax_lint.analysis.certainty import Certainty, must_if
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.made_as import Made, Thing
from relax_lint.facts.kernel_entry import kind_of
from relax_lint.model.operations import (
    AllocStorage,
    AllocTensor,
    Constant,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    MatchCast,
    Op,
    ValueId,
    View,
)
from relax_lint.model.program import Function
from relax_lint.model.types import ShapeType, TensorType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm import versions
from relax_lint.vm.builtins import BUILTINS, GET_ITEM, NULLS, ViewKind

_TENSOR, _STORAGE, _TUPLE = frozenset({Made.TENSOR}), frozenset({Made.STORAGE}), frozenset({Made.TUPLE})
_ANYTHING = frozenset(Made) - {Made.NULL}
_SHAPE_OF = "vm.builtin.shape_of"


@record(frozen=True)
class WrongThing:
    """What is asked of a value that is something else: in each run (`MUST`), or in some. `null` if that is
    nothing at all.
    """

    text: str
    certainty: Certainty
    null: bool


def given_otherwise(op: Op, flow: FunctionFlow) -> Iterator[WrongThing]:
    """What the virtual machine takes for a tensor, a storage or a tuple, and is not, or may not be."""
    if isinstance(op, KernelCall) and op.callee not in BUILTINS:
        # Kernels take what they are given: most calls are of them.
        return
    for value, taken, word in _taken(op):
        made = _made(value, flow)
        wrong = [one for one in made if one is not None and one not in taken]
        if wrong:
            text = f"{_name(value, flow)} is {word}"
            yield WrongThing(text, must_if(len(wrong) == len(made)), set(wrong) == {Made.NULL})
    if isinstance(op, FunctionCall) and (callee := flow.callee_of(op)) is not None:
        for parameter, value in zip(callee.parameters, op.arguments, strict=False):
            if text := _unlike(value, callee.type_of(parameter), flow.function, flow):
                yield WrongThing(text, Certainty.MUST, False)
            elif text := _perhaps_null(value, callee.type_of(parameter), flow.function, flow):
                yield WrongThing(text, Certainty.MAY, True)
    if isinstance(op, MatchCast) and not never_of_type(op, flow):
        text = _perhaps_null(op.source, op.type, flow.function, flow)
        if text:
            yield WrongThing(text, Certainty.MAY, True)


def never_of_type(op: MatchCast, flow: FunctionFlow) -> str:
    """What a cast asks of something that is no such thing in any run; nothing if it may be."""
    if versions.is_function_type(versions.type_of(op.place.var)):
        made = _made(op.source, flow)
        nothing = bool(made) and all(one in (Made.NULL, Made.STORAGE) for one in made)
        return f"{_name(op.source, flow)} is a function" if nothing else ""
    return _unlike(op.source, op.type, flow.function, flow)


def _taken(op: Op) -> Iterator[tuple[ValueId, frozenset[Made], str]]:
    if isinstance(op, If) and op.condition is not None:
        yield op.condition, _TENSOR | {Made.NUMBER}, "a tensor"
    elif isinstance(op, AllocTensor) and op.storage is not None:
        yield op.storage, _STORAGE, "a storage"
    elif isinstance(op, View) and op.kind is not ViewKind.COPY:
        yield op.source, _TENSOR, "a tensor"
    elif isinstance(op, Constant) and op.of is not None:
        yield op.of, _TENSOR, "a tensor"
    elif isinstance(op, GetItem):
        yield op.tuple, _TUPLE, "a tuple"
    elif isinstance(op, KernelCall) and op.callee in (_SHAPE_OF, GET_ITEM):
        of_tensor = op.callee == _SHAPE_OF
        for value in op.arguments[:1]:
            yield value, _TENSOR if of_tensor else _TUPLE, "a tensor" if of_tensor else "a tuple"
    elif isinstance(op, KernelCall):
        builtin = BUILTINS.get(op.callee)
        positions = builtin.reads | builtin.writes if builtin is not None else ()
        for position in sorted(positions):
            if position < len(op.arguments):
                yield op.arguments[position], _ANYTHING, "a tensor"


def _made(value: ValueId, flow: FunctionFlow) -> list[Made | None]:
    """What a value is on one path or another; None where that is not known."""
    made = [thing.made for thing in flow.things_of(value)]
    if None not in made or isinstance(flow.function.type_of(value), TupleType):
        return made
    # What a call may give back of what it was given is known by the memory.
    by_memory = [_by_memory(flow.paths.definitions.get(root)) for root in flow.aliases.roots_of(value)]
    return [*(one for one in made if one is not None), *by_memory]


def _by_memory(op: Op | None) -> Made | None:
    if isinstance(op, AllocStorage):
        return Made.STORAGE
    return Made.NULL if isinstance(op, KernelCall) and op.callee in NULLS else None


def _unlike(value: ValueId, type_: ValueType, function: Function, flow: FunctionFlow) -> str:
    """What a type asks of a value, or of a field of it, that it is not in any run; nothing if it may be."""
    wanted = _KINDS.get(type(type_))
    things = _things(value, function, flow)
    if wanted is None or not things:
        return ""
    name = function.values[value].name or "it"
    if all(one.made is not None and one.made is not wanted for one in things):
        return f"{name} is {kind_of(type_)}"
    if not isinstance(type_, TupleType) or not type_.fields or len(things) > 1:
        return ""
    (thing,) = things
    if thing.made is Made.TUPLE and len(thing.items) != len(type_.fields):
        return f"{name} has {len(type_.fields)} field{'s' * (len(type_.fields) > 1)}"
    fields = zip(thing.items, type_.fields, strict=False)
    return next(filter(None, (_unlike(one, field, thing.function, flow) for one, field in fields)), "")


def _perhaps_null(value: ValueId, type_: ValueType, function: Function, flow: FunctionFlow) -> str:
    """What a type asks of a value, or of a field of it, that is a null value on some path; else nothing.
    One in the place of a tensor is refused with a message; in that of a shape or a tuple it ends the process,
    as the message asks it for its type.
    """
    wanted = _KINDS.get(type(type_))
    if wanted is None or wanted is Made.TENSOR:
        return ""
    things = _things(value, function, flow)
    if any(one.made is Made.NULL for one in things):
        return f"{function.values[value].name or 'it'} is {kind_of(type_)}"
    fields = type_.fields if isinstance(type_, TupleType) else ()
    pairs = (
        (thing.function, *pair)
        for thing in things
        if thing.made is Made.TUPLE and len(thing.items) == len(fields)
        for pair in zip(thing.items, fields, strict=True)
    )
    return next(filter(None, (_perhaps_null(item, one, where, flow) for where, item, one in pairs)), "")


def _things(value: ValueId, function: Function, flow: FunctionFlow) -> list[Thing]:
    found = list(flow.things_of(value, function))
    if all(thing.made is not None for thing in found) or function is not flow.function:
        return found
    return [Thing(function, made) for made in _made(value, flow)]


def _name(value: ValueId, flow: FunctionFlow) -> str:
    return flow.function.values[value].name or "it"


_KINDS: dict[type[ValueType], Made] = {
    TensorType: Made.TENSOR,
    ShapeType: Made.SHAPE,
    TupleType: Made.TUPLE,
}
