"""Calls -> operations: calling conventions, and which operator or builtin goes where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy

from relax_lint.model import derived, lowered_ops, memory_ops
from relax_lint.model.arguments import Given, Handler, own_arguments, type_of_argument
from relax_lint.model.context import BuildContext, Called
from relax_lint.model.heap_state import type_of_heap
from relax_lint.model.operations import FunctionCall, KernelCall, Op, OperationId, ValueId
from relax_lint.model.returned import returned_type
from relax_lint.model.scalar_functions import returned_value
from relax_lint.model.signatures import takes
from relax_lint.model.types import OpaqueType, PrimType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm import versions
from relax_lint.vm.builtins import BUILTINS, Builtin, Operation
from relax_lint.vm.calls import CLOSURE_CALLS, CONVENTIONS, INVOKE_CLOSURE, CallKind, Convention

HANDLERS: Mapping[Operation, Handler] = {**memory_ops.HANDLERS, **lowered_ops.HANDLERS}
"""For the builtins that are operations of their own; all others are calls."""


@record(frozen=True)
class _Own:
    """An operator that is an operation of its own, where it is given at least so many arguments: TVM itself
    builds no call of one with arguments of other kinds.
    """

    builtin: Builtin
    handler: Handler
    least: int


_OWN: Mapping[str, _Own] = {
    name: _Own(row, HANDLERS[row.operation], len(row.arguments))
    for name, row in BUILTINS.items()
    if row.is_operator and not row.after_vm and row.operation in HANDLERS
}
"""By name: most calls of a model that was planned are of these."""


_PACKED = (CallKind.CALL_DPS_PACKED, CallKind.PACKED)
"""The conventions by which a packed function is called."""


def build_call(context: BuildContext, place: OperationId, var: Any, call: Any) -> Op:
    """The operation that a call is."""
    # Every look at what TVM holds is a call, and a copy of an array fewer of them than a walk over it.
    callee, args = call.op, versions.items(call.args)
    called = context.called(callee)
    kind, name = called.kind, called.name
    if kind == "Op":
        own = _OWN.get(name)
        if own is not None and len(args) >= own.least:
            return own.handler(context, place, var, Given(own.builtin, args))
        return _operator(context, place, var, call, name, args)
    if kind == "ExternFunc":
        if called.kernel is not None and _returns_nothing(context, var):
            return _kernel(context, place, var, CallKind.PRIM_FUNC, called.kernel, args, trusted=False)
        return _packed(context, place, var, name, args, CallKind.PACKED)
    if kind == "GlobalVar" and not called.is_relax:
        return _prim_func(context, place, var, called, args)
    arguments = tuple(context.operand(argument) for argument in args)
    target = context.function_named(callee)
    result = context.bind(var, trusted=False)
    if target is not None:
        _learn_returned(context, result, target, arguments)
    value = context.operand(callee) if kind == "Var" else None
    return FunctionCall(place, result, name, arguments, context.values[result].type, target, value)


def _returns_nothing(context: BuildContext, var: Any) -> bool:
    """Whether a packed call declares no result that something could be taken from."""
    type_ = context.types.type(versions.type_of(var))
    return isinstance(type_, OpaqueType) or (isinstance(type_, TupleType) and not type_.fields)


def _learn_returned(
    context: BuildContext, result: ValueId, target: str, arguments: Sequence[ValueId]
) -> None:
    """The type of a result, as far as the callee tells it."""
    callee = context.callee(target)
    if callee is not None and all(argument in context.trusted for argument in arguments):
        value = context.values[result]
        given = [context.values[argument].type for argument in arguments]
        type_, is_true = returned_type(callee, given, value.type)
        if is_true:
            context.trusted.add(result)
        if type_ != value.type:
            context.values[result] = replace(value, type=type_)
            context.retyped.add(result)
            context.learned.add(result)


def _operator(
    context: BuildContext, place: OperationId, var: Any, call: Any, name: str, args: Sequence[Any]
) -> Op:
    operation = _builtin(context, place, var, BUILTINS.get(name), args)
    if operation is not None:
        return operation
    if name in CLOSURE_CALLS and len(args) > 0:
        given = args[1:]
        if len(given) == 1 and versions.kind(given[0]) == "Tuple":
            given = given[0].fields[:]
        return _closure(context, place, var, args[0], given)
    convention = CONVENTIONS.get(name)
    if convention is not None and len(args) > 0:
        return _convention(context, place, var, call, args, convention)
    if name in BUILTINS:
        return _kernel(context, place, var, CallKind.OPERATOR, name, args, trusted=False)
    type_, follows = derived.type_of_result(context, var, call, args)
    return _kernel(context, place, var, CallKind.OPERATOR, name, args, trusted=follows, type_=type_)


def _builtin(
    context: BuildContext, place: OperationId, var: Any, builtin: Builtin | None, args: Sequence[Any]
) -> Op | None:
    """The operation of a builtin that has one of its own, if the arguments fit."""
    if builtin is None:
        return None
    handler = HANDLERS.get(builtin.operation)
    if handler is None or not takes(context, builtin, args):
        return None
    return handler(context, place, var, Given(builtin, own_arguments(builtin, args)))


def _closure(context: BuildContext, place: OperationId, var: Any, closure: Any, given: Sequence[Any]) -> Op:
    """A call of a closure: the values that it holds are not among the arguments."""
    name = str(getattr(closure, "name", "closure"))
    value = context.operand(closure)
    arguments = tuple(context.operand(argument) for argument in given)
    result = context.bind(var, trusted=False)
    return FunctionCall(place, result, name, arguments, context.values[result].type, None, value)


def _prim_func(
    context: BuildContext, place: OperationId, var: Any, called: Called, args: Sequence[Any]
) -> Op:
    type_ = None
    if called.computes:
        value = returned_value(context.translator, called.prim_func, args)
        if value is not None:
            context.translator.know(var, value)
        if isinstance(value, sympy.Expr):
            # The type that the IR gives it names the variable, of which nobody else knows the value.
            type_ = PrimType(str(versions.type_of(var).dtype), value)
    return _kernel(context, place, var, CallKind.PRIM_FUNC, called.name, args, trusted=False, type_=type_)


def _name_of(callee: Any) -> str:
    """The name of an external function, a global variable or a string that names either."""
    for attribute in ("global_symbol", "name_hint", "value"):
        name = getattr(callee, attribute, None)
        if name is not None:
            return str(name)
    return str(callee)


def _convention(
    context: BuildContext,
    place: OperationId,
    var: Any,
    call: Any,
    args: Sequence[Any],
    convention: Convention,
) -> Op:
    """Calls whose first argument names the callee."""
    kind = convention.kind
    name = _name_of(args[0])
    rest: Sequence[Any] = args[1:]
    if len(rest) >= 1 and versions.kind(rest[0]) == "Tuple" and convention.in_tuple:
        rest = rest[0].fields[:]
    if kind is CallKind.BUILTIN and name == INVOKE_CLOSURE and len(rest) > 0:
        return _closure(context, place, var, rest[0], rest[1:])
    called = context.called(args[0]) if kind in _PACKED else None
    kernel = None if called is None else called.kernel
    if called is not None and called.prim_func is not None:
        kernel = called.name
    if kernel is not None and kind is CallKind.CALL_DPS_PACKED:
        # The machine runs it as it does for `R.call_tir`.
        return _kernel(context, place, var, CallKind.CALL_TIR, kernel, rest, trusted=True)
    if kernel is not None and kind is CallKind.PACKED and _returns_nothing(context, var):
        pure = convention.pure
        return _kernel(context, place, var, CallKind.PRIM_FUNC, kernel, rest, trusted=False, pure=pure)
    if kind in (CallKind.BUILTIN, CallKind.PACKED):
        return _packed(context, place, var, name, rest, kind, pure=convention.pure)
    inplace = tuple(int(i) for i in getattr(call.attrs, "inplace_indices", ()) or ())
    trusted = not convention.believed
    return _kernel(context, place, var, kind, name, rest, trusted=trusted, inplace=inplace)


def _packed(
    context: BuildContext,
    place: OperationId,
    var: Any,
    name: str,
    args: Sequence[Any],
    kind: CallKind,
    *,
    pure: bool = False,
) -> Op:
    builtin = BUILTINS.get(name)
    if builtin is not None and builtin.is_operator:
        builtin = None
    operation = _builtin(context, place, var, builtin, args)
    if operation is not None:
        return operation
    type_ = _heap_type(context, builtin, args)
    return _kernel(context, place, var, kind, name, args, trusted=type_ is not None, type_=type_, pure=pure)


def _heap_type(context: BuildContext, builtin: Builtin | None, args: Sequence[Any]) -> ValueType | None:
    """The type of a shape heap where the call makes one."""
    if builtin is None or builtin.operation is not Operation.HEAP or not takes(context, builtin, args):
        return None
    count = type_of_argument(context, args[-1])
    return type_of_heap(count.value if isinstance(count, PrimType) else None)


def _kernel(
    context: BuildContext,
    place: OperationId,
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
    arguments = context.operands(args)
    trusted = trusted and context.trusted.issuperset(arguments)
    result = context.bind(var, type_=type_, trusted=trusted)
    return KernelCall(place, result, kind, callee, arguments, context.values[result].type, inplace, pure)
