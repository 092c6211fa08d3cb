"""RLX505, beside the conditions: what is given something that it cannot do with.

The virtual machine takes a tensor, and gets a null value or a storage, say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relax_lint.analysis.certainty import Certainty, must_if
from relax_lint.analysis.dominance import outer_function, used_inside
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.made_as import Made, Thing
from relax_lint.facts.kernel_entry import kind_of
from relax_lint.facts.taken import FUNCTION, taken
from relax_lint.model.operations import (
    AllocStorage,
    AllocTensor,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    MatchCast,
    Op,
    ValueId,
)
from relax_lint.model.program import Function, Program
from relax_lint.model.types import PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm import versions
from relax_lint.vm.builtins import GET_ITEM, NULLS
from relax_lint.vm.calls import CLOSURE_CALLS


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
    for value, (kinds, word) in taken(op, flow):
        # The memory of a closure is what it holds.
        made = _made(value, flow) if word != FUNCTION else [one.made for one in flow.things_of(value)]
        wrong = [one for one in made if one is not None and one not in kinds]
        if wrong:
            text = f"{_name(value, flow)} is {word}"
            yield WrongThing(text, must_if(len(wrong) == len(made)), set(wrong) == {Made.NULL})
    if isinstance(op, If):
        yield from _of_floats(op.condition, flow)
    elif isinstance(op, FunctionCall):
        yield from _handed_over(op, flow)
        yield from _without_result(op, flow)
    elif isinstance(op, KernelCall) and op.callee == _TO_SHAPE and op.arguments:
        yield from _of_floats(op.arguments[0], flow)
    elif isinstance(op, GetItem):
        yield from _beyond(op.tuple, op.item, flow)
    elif isinstance(op, KernelCall) and op.callee == GET_ITEM and len(op.arguments) == 2:
        number = getattr(flow.function.type_of(op.arguments[1]), "value", None)
        if number is not None and number.is_Integer:
            yield from _beyond(op.arguments[0], int(number), flow)
    elif isinstance(op, MatchCast):
        wrong_thing = _unlike(op.source, op.asked, flow.function, flow)
        if wrong_thing is not None and wrong_thing.certainty is Certainty.MUST:
            yield wrong_thing
        elif (nothing := _unlike(op.source, op.asked, flow.function, flow, ends=True)) is not None:
            # What is something else is refused with a message: a cast is the check for that.
            yield WrongThing(nothing.text, Certainty.MAY, True)


def gets_what_it_takes(op: Op, flow: FunctionFlow) -> bool:
    """Whether nothing that an operation is given can be something else, and nothing is compared: so it is of
    most. A kernel is given what the types say, where these are true, and a tensor an allocated storage.
    """
    if isinstance(op, KernelCall):
        is_asked = flow.are_kinds_claimed or op.callee in (_TO_SHAPE, GET_ITEM)
        return op.kind.runs_kernel and not is_asked
    if isinstance(op, AllocTensor) and op.extents_from is None:
        made = None if op.storage is None else flow.paths.definitions.get(op.storage)
        return op.storage is None or isinstance(made, AllocStorage)
    return False


def _of_floats(value: ValueId, flow: FunctionFlow) -> Iterator[WrongThing]:
    """A tensor of floating-point numbers where the machine reads whole ones, whatever type is declared."""
    type_ = flow.function.type_of(value)
    dtype = type_.dtype.name if isinstance(type_, TensorType) and type_.dtype is not None else ""
    if dtype.startswith(("float", "bfloat")) and value not in flow.function.claimed:
        yield WrongThing(f"{_name(value, flow)} holds integers", Certainty.MUST, False)


def never_function(op: MatchCast, flow: FunctionFlow) -> str:
    """What a cast to a function asks of something that is none in any run; nothing if it may be."""
    if not _casts_function(op) or versions.is_function_type(versions.type_of(op.place.node)):
        return ""
    made = [one.made for one in flow.things_of(op.source)]
    nothing = bool(made) and all(one in (Made.NULL, Made.STORAGE) for one in made)
    return f"{_name(op.source, flow)} is {FUNCTION}" if nothing else ""


def _casts_function(op: MatchCast) -> bool:
    return versions.is_function_type(versions.type_of(op.place.var))


def _handed_over(op: FunctionCall, flow: FunctionFlow) -> Iterator[WrongThing]:
    """What the functions that a call may be of look at before they begin."""
    callees = flow.callees_of(op)
    for position, value in enumerate(op.arguments):
        checked = [callee.parameters[: callee.num_input][position : position + 1] for callee in callees]
        types = [callee.type_of(one) for callee, found in zip(callees, checked, strict=True) for one in found]
        wrong = [one for type_ in types if (one := _unlike(value, type_, flow.function, flow)) is not None]
        if wrong:
            is_certain = len(wrong) == len(callees) and all(one.certainty is Certainty.MUST for one in wrong)
            yield WrongThing(wrong[0].text, must_if(is_certain), all(one.null for one in wrong))


def _without_result(op: FunctionCall, flow: FunctionFlow) -> Iterator[WrongThing]:
    """A call of a function of the type of the empty tuple: the machine gets no register for what it returns,
    and looks for one all the same. A call of a closure by an operator is none of these, as is one of an inner
    function that becomes a closure, since it holds something.
    """
    called: Any = getattr(op.place.node, "op", None)
    is_direct = versions.kind(called) in ("GlobalVar", "Var")
    is_invoked = op.value is not None and getattr(called, "name", "") not in CLOSURE_CALLS
    becomes_closure = any(_holds_something(callee, flow.program) for callee in flow.callees_of(op))
    if op.type == TupleType(()) and (is_direct or is_invoked) and not becomes_closure:
        yield WrongThing(f"{op.callee} returns a tuple with fields", Certainty.MUST, False)


def _holds_something(function: Function, program: Program) -> bool:
    outer = outer_function(program, function)
    return outer is not None and bool(used_inside(program, outer, function.name))


def _beyond(value: ValueId, number: int, flow: FunctionFlow) -> Iterator[WrongThing]:
    """A tuple, on some path or all of them, that has no field of this number."""
    made = flow.things_of(value)
    short = [one for one in made if one.made is Made.TUPLE and len(one.items) <= number]
    if short:
        text = f"{_name(value, flow)} has more than {number} field{'s' * (number != 1)}"
        yield WrongThing(text, must_if(len(short) == len(made)), False)


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


def _unlike(
    value: ValueId, type_: ValueType, function: Function, flow: FunctionFlow, *, ends: bool = False
) -> WrongThing | None:
    """What a type asks of a value, or of a field of it, that it is not; nothing if it is. With `ends`, only
    what ends the process: a null value in the place of anything but a tensor, as the message asks it for its
    type.
    """
    wanted = _KINDS.get(type(type_))
    things = _things(value, function, flow)
    if wanted is None:
        return None
    name = function.values[value].name or "it"
    found = [_unlike_thing(one, name, wanted, type_, flow, ends) for one in things]
    wrong = [one for one in found if one is not None]
    if not wrong:
        return None
    is_certain = len(wrong) == len(found) and all(one.certainty is Certainty.MUST for one in wrong)
    return WrongThing(wrong[0].text, must_if(is_certain), all(one.null for one in wrong))


def _unlike_thing(
    thing: Thing, name: str, wanted: Made, type_: ValueType, flow: FunctionFlow, ends: bool
) -> WrongThing | None:
    """The same of what the value `name` is on one path."""
    if thing.made is None:
        return None
    if thing.made is not wanted:
        is_null = thing.made is Made.NULL
        counts = not ends or (is_null and wanted is not Made.TENSOR)
        return WrongThing(f"{name} is {kind_of(type_)}", Certainty.MUST, is_null) if counts else None
    if not isinstance(type_, TupleType):
        return None
    if len(thing.items) != len(type_.fields):
        text = f"{name} has {len(type_.fields)} field{'s' * (len(type_.fields) != 1)}"
        return None if ends else WrongThing(text, Certainty.MUST, False)
    pairs = zip(thing.items, type_.fields, strict=True)
    fields = [_unlike(item, field, thing.function, flow, ends=ends) for item, field in pairs]
    wrong = [one for one in fields if one is not None]
    certain = [one for one in wrong if one.certainty is Certainty.MUST]
    return next(iter(certain or wrong), None)


def _things(value: ValueId, function: Function, flow: FunctionFlow) -> list[Thing]:
    found = list(flow.things_of(value, function))
    if all(thing.made is not None for thing in found) or function is not flow.function:
        return found
    return [Thing(function, made) for made in _made(value, flow)]


def _name(value: ValueId, flow: FunctionFlow) -> str:
    return flow.function.values[value].name or "it"


_TO_SHAPE = "vm.builtin.tensor_to_shape"
_KINDS: dict[type[ValueType], Made] = {
    TensorType: Made.TENSOR,
    ShapeType: Made.SHAPE,
    TupleType: Made.TUPLE,
    PrimType: Made.NUMBER,
}
