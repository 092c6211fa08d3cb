"""What a kernel receives in a call: arguments and outputs in the order of its parameters."""

from __future__ import annotations

from relax_lint.model.operations import KernelCall, ValueId
from relax_lint.model.program import Function
from relax_lint.model.types import PrimType, ShapeType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm.calls import CallKind


@record(frozen=True)
class Operand:
    """One argument, or (`value` None) one output that the call allocates, in the kernel's order."""

    type: ValueType
    value: ValueId | None


def operands_of(call: KernelCall, function: Function) -> tuple[Operand, ...]:
    """The operands of a call in the order of the kernel's parameters: the arguments, then the outputs
    that the call allocates.
    """
    operands = [Operand(function.type_of(argument), argument) for argument in call.arguments]
    if call.kind is CallKind.CALL_TIR_DYN and operands and isinstance(operands[-1].type, ShapeType):
        extents = operands.pop().type
        assert isinstance(extents, ShapeType)
        operands += [Operand(PrimType("int64", extent), None) for extent in extents.extents or ()]
    outputs = _tensors(call.type)
    if call.kind is CallKind.CALL_TIR:
        operands += [Operand(type_, None) for type_ in outputs]
    elif call.kind is CallKind.CALL_TIR_INPLACE:
        pairs = zip(outputs, call.inplace, strict=False)
        operands += [Operand(type_, None) for type_, index in pairs if index < 0]
    return tuple(operands)


def operand_types(call: KernelCall, function: Function) -> list[ValueType]:
    """The types of the operands of a call, in the same order."""
    if call.kind in _WITH_MORE:
        return [operand.type for operand in operands_of(call, function)]
    values = function.values
    return [values[argument].type for argument in call.arguments]


_WITH_MORE = frozenset({CallKind.CALL_TIR_DYN, CallKind.CALL_TIR, CallKind.CALL_TIR_INPLACE})
"""The calls that give their kernel something besides their arguments."""


def _tensors(type_: ValueType) -> tuple[ValueType, ...]:
    return type_.fields if isinstance(type_, TupleType) else (type_,)
