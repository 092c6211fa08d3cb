"""Operations on memory: allocations, views, kills and asserts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sympy

from relax_lint.model.arguments import (
    BYTE,
    Handler,
    device_of,
    dtype_of,
    read_offset,
    read_shape,
    size_in_bytes,
    text_of,
)
from relax_lint.model.program import (
    AllocStorage,
    AllocTensor,
    Assert,
    Kill,
    KillKind,
    Level,
    Op,
    Place,
    Shape,
    Size,
    Unknown,
    View,
    ViewKind,
)
from relax_lint.model.types import DType, OpaqueType, TensorType, ValueType
from relax_lint.symbolic.domain import Fact, FactKind
from relax_lint.symbolic.translate import Untranslatable
from relax_lint.vm import versions

if TYPE_CHECKING:
    from relax_lint.model.builder import FunctionBuilder

# -- allocations ------------------------------------------------------------------------------


def _memory_alloc_storage(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    # `R.memory` sizes are bytes whatever the dtype says: lowering replaces it by uint8.
    return _alloc_storage(
        builder, place, var, Level.MEMORY, args[0], args[1], dtype_of(args[3]), args[2], unit=BYTE
    )


def _vm_alloc_storage(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    dtype = dtype_of(args[2])
    return _alloc_storage(builder, place, var, Level.VM, args[0], args[1], dtype, args[3], unit=dtype)


def _packed_alloc_storage(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    size, device, dtype, scope = args[-4:]
    unit = dtype_of(dtype)
    return _alloc_storage(builder, place, var, Level.PACKED, size, device, unit, scope, unit=unit)


def _alloc_storage(
    builder: FunctionBuilder,
    place: Place,
    var: Any,
    level: Level,
    size: Any,
    device: Any,
    dtype: DType,
    scope: Any,
    *,
    unit: DType,
) -> AllocStorage:
    extents = read_shape(builder, size)
    return AllocStorage(
        place,
        builder.bind(var),
        level,
        size_in_bytes(extents, unit),
        extents,
        dtype,
        device_of(device),
        text_of(scope),
    )


def _memory_alloc_tensor(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    return _alloc_tensor(builder, place, var, Level.MEMORY, args)


def _vm_alloc_tensor(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    return _alloc_tensor(builder, place, var, Level.VM, args)


def _packed_alloc_tensor(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    return _alloc_tensor(builder, place, var, Level.PACKED, args[:4])


def _alloc_tensor(
    builder: FunctionBuilder, place: Place, var: Any, level: Level, args: Sequence[Any]
) -> AllocTensor:
    shape, dtype = read_shape(builder, args[2]), dtype_of(args[3])
    return AllocTensor(
        place,
        builder.bind(var, type_=_tensor_type(builder, var, shape, dtype)),
        level,
        builder.operand(args[0]),
        read_offset(builder, args[1]),
        shape,
        dtype,
        size_in_bytes(shape, dtype),
        device_of(args[4]) if len(args) > 4 else None,
        "global",
    )


def _builtin_alloc_tensor(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    shape, dtype = read_shape(builder, args[0]), dtype_of(args[1])
    result = builder.bind(var, type_=_tensor_type(builder, var, shape, dtype))
    size = size_in_bytes(shape, dtype)
    return AllocTensor(
        place,
        result,
        Level.BUILTIN,
        None,
        sympy.Integer(0),
        shape,
        dtype,
        size,
        device_of(args[2]),
        text_of(args[3]),
    )


def _tensor_type(builder: FunctionBuilder, var: Any, shape: Shape, dtype: DType) -> TensorType:
    """The allocated type: after VMShapeLower the IR's own type has lost the extents."""
    if isinstance(shape, Unknown):
        return TensorType(None, dtype, -1)
    return TensorType(shape, dtype, len(shape))


# -- views, kills, checks ---------------------------------------------------------------------


def _reshape(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    source = builder.operand(args[0])
    type_ = _view_type(builder, source, args[1], None)
    return _view(builder, place, var, ViewKind.RESHAPE, source, sympy.Integer(0), type_)


def _memory_view(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    source = builder.operand(args[0])
    offset: Size = sympy.Integer(0) if _is_absent(builder, args[3]) else read_offset(builder, args[3])
    dtype = None if _is_absent(builder, args[2]) else dtype_of(args[2])
    type_ = _view_type(builder, source, None if _is_absent(builder, args[1]) else args[1], dtype)
    return _view(builder, place, var, ViewKind.MEMORY_VIEW, source, offset, type_)


def _is_absent(builder: FunctionBuilder, argument: Any) -> bool:
    """Whether an optional argument is left out; the parser then puts a variable for a null there."""
    if versions.is_absent(argument):
        return True
    is_variable = versions.kind(argument) == "Var"
    return is_variable and isinstance(builder.values[builder.operand(argument)].type, OpaqueType)


def _same_bytes(kind: ViewKind) -> Handler:
    def handler(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
        source = builder.operand(args[0])
        return _view(builder, place, var, kind, source, sympy.Integer(0), builder.values[source].type)

    return handler


def _copy(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    source = builder.operand(args[0])
    type_ = builder.values[source].type
    view = _view(builder, place, var, ViewKind.COPY, source, sympy.Integer(0), type_)
    return replace(view, claimed=builder.types.type(var.ty))


def _view(
    builder: FunctionBuilder,
    place: Place,
    var: Any,
    kind: ViewKind,
    source: int,
    offset: Size,
    type_: ValueType,
) -> View:
    result = builder.bind(var, type_=type_, trusted=source in builder.trusted)
    return View(place, result, kind, source, offset, type_)


def _view_type(builder: FunctionBuilder, source: int, shape: Any | None, dtype: DType | None) -> ValueType:
    base = builder.values[source].type
    if not isinstance(base, TensorType):
        return base
    extents = base.shape
    if shape is not None:
        read = read_shape(builder, shape)
        extents = None if isinstance(read, Unknown) else read
    ndim = len(extents) if extents is not None else -1
    return TensorType(extents, dtype or base.dtype, ndim, base.device)


def _kill(kind: KillKind) -> Handler:
    def handler(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
        target = builder.operand(args[0])
        return Kill(place, builder.bind(var), kind, target)

    return handler


def _assert(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    fact = None
    try:
        condition = builder.translator.condition(args[0])
        fact = Fact(condition, FactKind.ENFORCED, f"{condition} (R.assert_op)")
    except Untranslatable:
        pass
    operands = tuple(builder.operand(argument) for argument in args[2:])
    return Assert(place, builder.bind(var), fact, operands)


OPERATORS: dict[str, Handler] = {
    "relax.memory.alloc_storage": _memory_alloc_storage,
    "relax.memory.alloc_tensor": _memory_alloc_tensor,
    "relax.memory.kill_storage": _kill(KillKind.STORAGE),
    "relax.memory.kill_tensor": _kill(KillKind.TENSOR),
    "relax.memory.view": _memory_view,
    "relax.memory.ensure_zero_offset": _same_bytes(ViewKind.ZERO_OFFSET),
    "relax.vm.alloc_storage": _vm_alloc_storage,
    "relax.vm.alloc_tensor": _vm_alloc_tensor,
    "relax.vm.kill_object": _kill(KillKind.OBJECT),
    "relax.builtin.alloc_tensor": _builtin_alloc_tensor,
    "relax.reshape": _reshape,
    "relax.assert_op": _assert,
}

BUILTINS: dict[str, Handler] = {
    "vm.builtin.alloc_storage": _packed_alloc_storage,
    "vm.builtin.alloc_tensor": _packed_alloc_tensor,
    "vm.builtin.reshape": _reshape,
    "vm.builtin.copy": _copy,
    "vm.builtin.ensure_zero_offset": _same_bytes(ViewKind.ZERO_OFFSET),
    "runtime.TVMTensorCreateView": _memory_view,
}
