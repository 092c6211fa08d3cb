"""Calls -> operations: calling conventions, and which operator or builtin goes where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from relax_lint.model import lowered_ops, memory_ops
from relax_lint.model.arguments import (
    Handler,
)
from relax_lint.model.program import (
    CallKind,
    FunctionCall,
    KernelCall,
    Op,
    Place,
)
from relax_lint.model.scalar_functions import returned_value
from relax_lint.model.signatures import takes
from relax_lint.model.types import ValueType
from relax_lint.vm import versions

if TYPE_CHECKING:
    from relax_lint.model.builder import FunctionBuilder


def build_call(builder: FunctionBuilder, place: Place, var: Any, call: Any) -> Op:
    """The operation that a call is."""
    callee = call.op
    kind = versions.kind(callee)
    if kind == "Op":
        name = str(callee.name)
        handler = _OPERATORS.get(name)
        if handler is not None and takes(builder, name, call.args):
            return handler(builder, place, var, call.args)
        convention = _CONVENTIONS.get(name)
        if convention is not None and len(call.args) > 0:
            return _convention(builder, place, var, call, convention)
        return _kernel(builder, place, var, CallKind.OPERATOR, name, call.args, trusted=handler is None)
    if kind == "ExternFunc":
        return _packed(builder, place, var, str(callee.global_symbol), call.args, CallKind.PACKED)
    if kind == "GlobalVar" and not versions.is_relax_function(builder.module, callee):
        return _prim_func(builder, place, var, callee, call.args)
    name = str(callee.name_hint) if kind == "GlobalVar" else str(getattr(callee, "name", "function"))
    arguments = tuple(builder.operand(argument) for argument in call.args)
    result = builder.bind(var, trusted=False)
    return FunctionCall(place, result, name, arguments, builder.values[result].type)


def _prim_func(builder: FunctionBuilder, place: Place, var: Any, callee: Any, args: Sequence[Any]) -> Op:
    name = str(callee.name_hint)
    heap_function = len(args) == 1 and builder.values[builder.operand(args[0])].name.startswith("shape_heap")
    if heap_function:
        builder.heap.compute(builder.module[callee])
    # The module of a bare function has none of the functions that it calls.
    if callee in builder.module.functions:
        value = returned_value(builder, builder.module[callee], args)
        if value is not None:
            builder.translator.know(var, value)
    return _kernel(builder, place, var, CallKind.PRIM_FUNC, name, args, trusted=False)


def _name_of(callee: Any) -> str:
    """The name of an external function, a global variable or a string that names either."""
    for attribute in ("global_symbol", "name_hint", "value"):
        name = getattr(callee, attribute, None)
        if name is not None:
            return str(name)
    return str(callee)


def _convention(builder: FunctionBuilder, place: Place, var: Any, call: Any, kind: CallKind) -> Op:
    """Calls whose first argument names the callee."""
    callee = call.args[0]
    name = _name_of(callee)
    rest: Sequence[Any] = call.args[1:]
    if len(rest) >= 1 and versions.kind(rest[0]) == "Tuple" and kind in _TUPLED:
        rest = rest[0].fields
    if kind in (CallKind.BUILTIN, CallKind.PACKED):
        return _packed(builder, place, var, name, rest, kind, pure=kind is CallKind.PACKED)
    inplace = tuple(int(i) for i in getattr(call.attrs, "inplace_indices", ()) or ())
    # The VM allocates the outputs of call_tir and call_dps_packed with the declared type.
    trusted = kind is not CallKind.CALL_INPLACE_PACKED
    return _kernel(builder, place, var, kind, name, rest, trusted=trusted, inplace=inplace)


def _packed(
    builder: FunctionBuilder,
    place: Place,
    var: Any,
    name: str,
    args: Sequence[Any],
    kind: CallKind,
    *,
    pure: bool = False,
) -> Op:
    known = takes(builder, name, args)
    handler = _BUILTINS.get(name)
    if handler is not None and known:
        return handler(builder, place, var, args)
    is_heap = name == "vm.builtin.alloc_shape_heap" and known
    type_ = builder.heap.type_of_heap(args) if is_heap else None
    return _kernel(builder, place, var, kind, name, args, trusted=type_ is not None, type_=type_, pure=pure)


def _kernel(
    builder: FunctionBuilder,
    place: Place,
    var: Any,
    kind: CallKind,
    callee: str,
    args: Sequence[Any],
    *,
    trusted: bool,
    inplace: tuple[int, ...] = (),
    type_: ValueType | None = None,
    pure: bool = False,
) -> KernelCall:
    arguments = tuple(builder.operand(argument) for argument in args)
    trusted = trusted and all(argument in builder.trusted for argument in arguments)
    result = builder.bind(var, type_=type_, trusted=trusted)
    return KernelCall(place, result, kind, callee, arguments, builder.values[result].type, inplace, pure)


_OPERATORS: dict[str, Handler] = {**memory_ops.OPERATORS, **lowered_ops.OPERATORS}

_BUILTINS: dict[str, Handler] = {**memory_ops.BUILTINS, **lowered_ops.BUILTINS}

_CONVENTIONS: dict[str, CallKind] = {
    "relax.call_tir": CallKind.CALL_TIR,
    "relax.call_tir_with_grad": CallKind.CALL_TIR,
    "relax.call_tir_inplace": CallKind.CALL_TIR_INPLACE,
    "relax.call_dps_packed": CallKind.CALL_DPS_PACKED,
    "relax.call_inplace_packed": CallKind.CALL_INPLACE_PACKED,
    "relax.call_pure_packed": CallKind.PACKED,
    "relax.call_builtin_with_ctx": CallKind.BUILTIN,
    "relax.vm.call_tir_dyn": CallKind.CALL_TIR_DYN,
}

_TUPLED = frozenset(
    {
        CallKind.CALL_TIR,
        CallKind.CALL_TIR_INPLACE,
        CallKind.CALL_DPS_PACKED,
        CallKind.CALL_TIR_DYN,
        CallKind.BUILTIN,
    }
)
