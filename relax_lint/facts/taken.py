"""What the virtual machine takes as what: a tensor, a storage, a shape, a tuple, a number or a function.

Measured for each callee: anything else ends in an error, or ends the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.kernel_operands import operands_of
from relax_lint.analysis.made_as import Made
from relax_lint.model.kernels import BufferParameter, OpaqueParameter
from relax_lint.model.operations import (
    AllocTensor,
    Assert,
    Constant,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    Op,
    ValueId,
    View,
)
from relax_lint.model.types import OpaqueType, PrimType, TensorType
from relax_lint.vm.builtins import BUILTINS, GET_ITEM, MATCH_SHAPE, ViewKind
from relax_lint.vm.calls import CallKind

Kinds: TypeAlias = tuple[frozenset[Made], str]
"""What something may be, and that in words."""

FUNCTION = "a function"
_TENSOR: Kinds = frozenset({Made.TENSOR}), "a tensor"
_STORAGE: Kinds = frozenset({Made.STORAGE}), "a storage"
_SHAPE: Kinds = frozenset({Made.SHAPE}), "a shape"
_TUPLE: Kinds = frozenset({Made.TUPLE}), "a tuple"
_NUMBER: Kinds = frozenset({Made.NUMBER}), "a number"
_FUNCTION: Kinds = frozenset({Made.FUNCTION}), FUNCTION
_CONDITION: Kinds = frozenset({Made.TENSOR, Made.NUMBER}), "a tensor"
_ANYTHING: Kinds = frozenset(Made) - {Made.NULL}, "a tensor"

_FIRST: dict[str, Kinds] = {
    "vm.builtin.shape_of": _TENSOR,
    "vm.builtin.tensor_to_shape": _TENSOR,
    "vm.builtin.to_device": _TENSOR,
    "vm.builtin.read_if_cond": _CONDITION,
    GET_ITEM: _TUPLE,
    "vm.builtin.check_tensor_info": _TENSOR,
    "vm.builtin.check_shape_info": _SHAPE,
    "vm.builtin.check_tuple_info": _TUPLE,
    "vm.builtin.check_prim_value_info": _NUMBER,
    "vm.builtin.check_func_info": _FUNCTION,
}
"""What packed functions take as their first argument."""

_COMPARED: dict[str, Kinds] = {
    MATCH_SHAPE: (frozenset({Made.TENSOR, Made.SHAPE}), "a tensor or a shape"),
    "vm.builtin.match_prim_value": _NUMBER,
}
"""What is compared with slots of the shape heap."""

_OF_TENSORS = frozenset(
    {
        "runtime.TVMTensorCopyFromTo",
        "runtime.TVMTensorCopyFromBytes",
        "runtime.TVMTensorCopyToBytes",
        "tvm.contrib.sort.argsort",
        "tvm.contrib.sort.sort",
    }
)
"""The packed functions of which all that they read and write are tensors."""

_RESHAPE = "vm.builtin.reshape"


def taken(op: Op, flow: FunctionFlow) -> Iterator[tuple[ValueId, Kinds]]:
    """Each value that an operation takes as something, and as what."""
    if isinstance(op, If):
        yield op.condition, _CONDITION
    elif isinstance(op, AllocTensor) and op.storage is not None:
        yield op.storage, _STORAGE
    elif isinstance(op, View) and op.kind is not ViewKind.COPY:
        yield op.source, _TENSOR
    elif isinstance(op, Constant) and op.of is not None:
        yield op.of, _TENSOR
    elif isinstance(op, Assert) and op.of is not None:
        yield op.of, _matched(op)
    elif isinstance(op, GetItem):
        yield op.tuple, _TUPLE
    elif isinstance(op, FunctionCall) and op.target is None and op.value is not None:
        yield op.value, _FUNCTION
    elif isinstance(op, KernelCall):
        yield from _by_callee(op, flow)
    if isinstance(op, AllocTensor | View) and op.extents_from is not None:
        yield op.extents_from, _SHAPE


def _matched(op: Assert) -> Kinds:
    """What is compared with slots of the shape heap: a tensor or a shape, or a number."""
    called = op.place.node
    names = (getattr(one, "global_symbol", None) for one in (called.op, *called.args[:1]))
    return _COMPARED.get(str(next(filter(None, names), "")), (frozenset(Made), "anything"))


def _by_callee(op: KernelCall, flow: FunctionFlow) -> Iterator[tuple[ValueId, Kinds]]:
    if op.kind.runs_kernel or op.kind is CallKind.OPERATOR:
        # Only what a type says that nothing makes true is another thing than such a call takes.
        if flow.are_kinds_claimed:
            yield from _by_operator(op, flow) if op.kind is CallKind.OPERATOR else _by_kernel(op, flow)
    elif op.callee in _FIRST:
        yield from ((value, _FIRST[op.callee]) for value in op.arguments[:1])
    elif op.callee == _RESHAPE:
        # One that cannot be a view, as the types tell already.
        yield from zip(op.arguments, (_TENSOR, _SHAPE), strict=False)
    else:
        builtin = BUILTINS.get(op.callee)
        positions = builtin.reads | builtin.writes if builtin is not None else ()
        kinds = _TENSOR if op.callee in _OF_TENSORS else _ANYTHING
        for position in sorted(positions):
            if position < len(op.arguments):
                yield op.arguments[position], kinds


def _by_kernel(op: KernelCall, flow: FunctionFlow) -> Iterator[tuple[ValueId, Kinds]]:
    """The operands of a kernel whose types tell nothing against them: RLX301 tells of the others."""
    kernel = flow.effects.kernel_of(op)
    operands = operands_of(op, flow.function)
    parameters = kernel.parameters if kernel is not None else ()
    if len(parameters) != len(operands):
        return
    for parameter, operand in zip(parameters, operands, strict=True):
        if operand.value is None or isinstance(parameter, OpaqueParameter):
            continue
        is_tensor = isinstance(parameter, BufferParameter)
        if isinstance(operand.type, TensorType | OpaqueType if is_tensor else PrimType | OpaqueType):
            yield operand.value, _TENSOR if is_tensor else _NUMBER


def _by_operator(op: KernelCall, flow: FunctionFlow) -> Iterator[tuple[ValueId, Kinds]]:
    """The arguments, or fields of them, that the kernels take which TVM makes of an operator."""
    for number, *fields in sorted(flow.lowered(op).taken):
        value = _field(op.arguments[number], fields, flow)
        if value is not None:
            yield value, _TENSOR


def _field(value: ValueId, fields: list[int], flow: FunctionFlow) -> ValueId | None:
    """What a field of a tuple that is made here is."""
    for field in fields:
        things = flow.things_of(value)
        is_one = len(things) == 1 and things[0].made is Made.TUPLE
        items = things[0].items if is_one and things[0].function is flow.function else ()
        if field >= len(items):
            return None
        value = items[field]
    return value
