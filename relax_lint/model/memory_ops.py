"""Operations on memory: allocations, views, kills and asserts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sympy

from relax_lint.model.arguments import (
    BYTE,
    Given,
    Handler,
    Order,
    device_of,
    dtype_of,
    read_offset,
    read_shape,
    text_of,
)
from relax_lint.model.context import BuildContext
from relax_lint.model.operations import (
    AllocStorage,
    AllocTensor,
    Assert,
    Kill,
    Op,
    OperationId,
    ValueId,
    View,
)
from relax_lint.model.read_conditions import read_condition, written_condition
from relax_lint.model.sizes import size_in_bytes
from relax_lint.model.types import DType, OpaqueType, TensorType, ValueType
from relax_lint.symbolic.quantity import Shape, Size, Unknown
from relax_lint.symbolic.translate import Untranslatable
from relax_lint.vm import versions
from relax_lint.vm.builtins import ELEMENT_SCOPES, IPC_SCOPE, Operation, Role, Unit, ViewKind
from relax_lint.vm.facts import FactSource

# -- allocations ------------------------------------------------------------------------------


def _storage(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    assert given.builtin.level is not None
    dtype = dtype_of(given[Role.DTYPE])
    named, device = given.get(Role.SCOPE), given.get(Role.DEVICE)
    scope = IPC_SCOPE if named is None else text_of(named)
    in_bytes = given.builtin.unit is Unit.BYTES and scope not in ELEMENT_SCOPES
    unit = BYTE if in_bytes else dtype
    extents = read_shape(context, given[Role.SHAPE])
    return AllocStorage(
        place,
        context.bind(var),
        given.builtin.level,
        size_in_bytes(extents, unit),
        extents,
        dtype,
        None if device is None else device_of(device),
        scope,
    )


def _tensor(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    assert given.builtin.level is not None
    written, element, storage, offset, device, scope = _TENSOR(given)
    shape, dtype = read_shape(context, written), dtype_of(element)
    type_, size = _allocated(context, shape, dtype)
    result = context.bind(var, type_=type_)
    return AllocTensor(
        place,
        result,
        given.builtin.level,
        None if storage is None else context.operand(storage),
        sympy.S.Zero if offset is None else read_offset(context, offset),
        shape,
        dtype,
        size,
        None if device is None else device_of(device),
        "global" if scope is None else text_of(scope),
        _named(context, written),
    )


_TENSOR = Order(Role.SHAPE, Role.DTYPE, Role.STORAGE, Role.OFFSET, Role.DEVICE, Role.SCOPE)


def _named(context: BuildContext, argument: Any | None) -> ValueId | None:
    """An argument that is a variable."""
    return context.operand(argument) if argument is not None and versions.kind(argument) == "Var" else None


def _allocated(context: BuildContext, shape: Shape, dtype: DType) -> tuple[TensorType, Size]:
    """The allocated type, and its bytes: after VMShapeLower the IR's own type has lost the extents."""
    if isinstance(shape, Unknown):
        return TensorType(None, dtype, -1), shape
    return context.types.allocated(shape, dtype)


# -- views, kills, checks ---------------------------------------------------------------------


def _view(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    assert given.builtin.view is not None
    source = context.operand(given.own[0])
    shape, dtype, offset = (_present(context, given, role) for role in _SHOWN)
    type_ = context.values[source].type
    is_filled_in = given.builtin.view is ViewKind.MEMORY_VIEW and given.builtin.is_operator
    if is_filled_in and source in context.retyped:
        type_ = _left_out(type_, context.types.type(versions.type_of(given.own[0])))
    if Role.SHAPE in given.builtin.arguments:
        type_ = _view_type(context, type_, shape, None if dtype is None else dtype_of(dtype))
    start: Size = sympy.Integer(0) if offset is None else read_offset(context, offset)
    result = context.bind(var, type_=type_, trusted=source in context.trusted)
    view = View(place, result, given.builtin.view, source, start, type_)
    if view.kind is ViewKind.COPY:
        context.learned.add(result)
        return replace(view, claimed=context.types.type(var.ty))
    is_operator = given.builtin.name == "relax.reshape"
    return replace(view, may_be_copied=is_operator, extents_from=_named(context, shape))


_SHOWN = (Role.SHAPE, Role.DTYPE, Role.OFFSET)


def _present(context: BuildContext, given: Given, role: Role) -> Any | None:
    """An argument of a view; None where it is left out. The parser then puts a variable for a null there."""
    argument = given.get(role)
    if given.builtin.view is not ViewKind.MEMORY_VIEW:
        return argument
    if versions.is_absent(argument):
        return None
    is_variable = versions.kind(argument) == "Var"
    is_null = is_variable and isinstance(context.values[context.operand(argument)].type, OpaqueType)
    return None if is_null else argument


def _left_out(known: ValueType, declared: ValueType) -> ValueType:
    """The shape and dtype that a view has where it names none: TVM fills in what the IR says of the source,
    also where that is a copy of something else.
    """
    if not isinstance(known, TensorType) or not isinstance(declared, TensorType):
        return known
    extents = known.shape if declared.shape is None else declared.shape
    ndim = known.ndim if declared.shape is None else declared.ndim
    return TensorType(extents, declared.dtype or known.dtype, ndim, known.device)


def _view_type(context: BuildContext, base: ValueType, shape: Any | None, dtype: DType | None) -> ValueType:
    if not isinstance(base, TensorType):
        return base
    extents = base.shape
    if shape is not None:
        read = read_shape(context, shape)
        extents = None if isinstance(read, Unknown) else read
    ndim = len(extents) if extents is not None else -1
    return context.types.tensor(extents, dtype or base.dtype, ndim, base.device)


def _kill(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    assert given.builtin.kills is not None
    target = context.operand(given.own[0])
    return Kill(place, context.bind(var), given.builtin.kills, target)


def _assert(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    fact, tensor = None, None
    try:
        condition = read_condition(context.translator, given.own[0])
        text = written_condition(given.own[0], condition)
        fact = context.symbols.fact(FactSource.ASSERTION, condition, text, "R.assert_op", simplified=True)
    except Untranslatable:
        tensor = context.operand(given.own[0])
    operands = tuple(context.operand(argument) for argument in given.own[2:])
    return Assert(place, context.bind(var), fact, operands, condition=tensor)


HANDLERS: Mapping[Operation, Handler] = {
    Operation.STORAGE: _storage,
    Operation.TENSOR: _tensor,
    Operation.UNPLANNED: _tensor,
    Operation.VIEW: _view,
    Operation.KILL: _kill,
    Operation.ASSERT: _assert,
}
