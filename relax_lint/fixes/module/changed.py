"""Changes made in an IRModule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, TypeAlias

from sympy.logic.boolalg import Boolean
from tvm import relax

from relax_lint.fixes.changes import Change, InsertAssert, MoveKill, Remove, RenameBound, ResizeStorage
from relax_lint.fixes.comparing import Comparison
from relax_lint.fixes.module.heap_checks import heap_check
from relax_lint.fixes.module.prim_expr import PrimExprWriter
from relax_lint.fixes.module.rewriting import (
    Plan,
    Rewrites,
    address,
    bindings_of,
    called_functions,
    rewritten,
)
from relax_lint.fixes.wording import assert_format, comparison_text
from relax_lint.model.operations import Assert, KernelCall
from relax_lint.model.program import Function
from relax_lint.symbolic.backend import Inexpressible
from relax_lint.vm import versions
from relax_lint.vm.builtins import MATCH_SHAPE, SHAPE_HEAP, Level

FunctionChange: TypeAlias = tuple[Function, Change]
"""A change, and the function of the memory program that it is about."""


class Inapplicable(ValueError):
    """A change that cannot be made in this module; the message says why."""


def apply_changes(module: Any, changes: Iterable[FunctionChange]) -> Any:
    """A new module with all changes made together; whatever they are not about is the very same nodes.

    The functions are those of the memory program of this very module. Raises `Inapplicable`.
    """
    plan: defaultdict[int, Rewrites] = defaultdict(Rewrites)
    for function, change in changes:
        _plan(plan[address(function.node)], function, change)
    try:
        made = _rewritten_module(module, plan)
    except Exception as error:
        # The constructors of TVM's nodes check what they get, each in its own way.
        raise Inapplicable(f"TVM does not take the changed module: {error}") from error
    reason = versions.ill_formed(made)
    if reason is not None and versions.ill_formed(module) is None:
        raise Inapplicable(f"the module would not be well-formed: {reason}")
    return made


def _rewritten_module(module: Any, plan: Plan) -> Any:
    called = called_functions(module)
    made = module.clone()
    for var in module.get_global_vars():
        if versions.is_relax_function(module, var):
            made[var] = rewritten(module[var], plan, is_called=str(var.name_hint) in called)
    for rewrites in plan.values():
        for kernel_variable, kernel in rewrites.kernels:
            made[kernel_variable] = kernel
    return made


def require_applicable(function: Function, change: Change) -> None:
    """Raises `Inapplicable` where the IR has no form of a change."""
    _plan(Rewrites(), function, change)


def _plan(rewrites: Rewrites, function: Function, change: Change) -> None:
    """Add one change to what is to be done to its function."""
    if isinstance(change, InsertAssert):
        _insert(rewrites, function, change)
        rewrites.impure = True
    elif isinstance(change, ResizeStorage):
        rewrites.values[change.storage.place.index] = _resized(function, change)
    elif isinstance(change, Remove):
        if isinstance(change.op, Assert) and _has_shape_heap(function):
            raise Inapplicable("behind VMShapeLower a check has a kernel")
        rewrites.removed.add(change.op.place.index)
    elif isinstance(change, MoveKill):
        index = change.kill.place.index
        rewrites.removed.add(index)
        rewrites.after[change.after.place.index].append(bindings_of(function.node.body)[index])
    else:
        rewrites.attributes[change.kind.value] = _renamed(function, change)


def _insert(rewrites: Rewrites, function: Function, change: InsertAssert) -> None:
    place = rewrites.entry if change.before is None else rewrites.before[change.before.index]
    try:
        if not _has_shape_heap(function):
            place.append(_checking(_check_call(_writer(function), change)))
            return
        if change.comparison is None:
            raise Inapplicable("nothing lowers `R.assert_op` behind VMShapeLower: use the other form")
        check = heap_check(function, change)
    except Inexpressible as error:
        raise Inapplicable(str(error)) from error
    if change.before is None:
        place = rewrites.after[check.after]
    elif change.before.index <= check.after:
        raise Inapplicable("the shape heap is filled behind the place of the check")
    rewrites.kernels.append((check.variable, check.kernel))
    place += [*check.bindings, _checking(_compared(check.shape, change.condition, change.comparison))]


def _checking(call: Any) -> Any:
    return relax.VarBinding(relax.Var("_", relax.TupleType([])), relax.BlockBuilder().normalize(call))


def _check_call(writer: PrimExprWriter, change: InsertAssert) -> Any:
    if change.comparison is None:
        values = [writer.value(symbol) for symbol in change.symbols]
        condition = writer.condition(change.condition)
        return relax.op.assert_op(condition, values, assert_format(change.condition, change.symbols))
    shape = relax.ShapeExpr([writer.expr(change.comparison.value)])
    return _compared(shape, change.condition, change.comparison)


def _compared(shape: Any, condition: Boolean, comparison: Comparison) -> Any:
    words = comparison_text(condition, comparison)
    # (shape, no heap, one axis, `kAssertEqualToImm`, the number, what the error says)
    numbers = [versions.integer_argument(number) for number in (0, 1, 0, comparison.allowed)]
    arguments = [shape, *numbers, versions.text_argument(words)]
    return relax.Call(relax.ExternFunc(MATCH_SHAPE), arguments, None, [relax.TupleType([])])


def _resized(function: Function, change: ResizeStorage) -> Any:
    if change.extent.free_symbols and _has_shape_heap(function):
        raise Inapplicable("VMShapeLower has moved the symbols to the shape heap: resize before that pass")
    try:
        size = relax.ShapeExpr([_writer(function).expr(change.extent)])
    except Inexpressible as error:
        raise Inapplicable(str(error)) from error
    call = change.storage.place.node
    if change.storage.level is not Level.PACKED:
        return _with_arguments(call, [size, *call.args[1:]])
    # `R.call_builtin_with_ctx("vm.builtin.alloc_storage", (size, ...))`, or the same without its convention.
    packed = call.args[-1]
    if versions.kind(packed) != "Tuple":
        return _with_arguments(call, [*call.args[:-4], size, *call.args[-3:]])
    return _with_arguments(call, [*call.args[:-1], relax.Tuple([size, *packed.fields[1:]])])


def _with_arguments(call: Any, arguments: list[Any]) -> Any:
    made = type(call)(call.op, arguments, call.attrs, call.ty_args, call.span)
    return relax.BlockBuilder().normalize(made)


def _renamed(function: Function, change: RenameBound) -> Any:
    declared = function.node.attrs[change.kind.value]
    if change.new in declared:
        raise Inapplicable(f"{change.kind.value} names {change.new} already")
    if hasattr(declared, "items"):
        return {change.new if str(name) == change.old else name: value for name, value in declared.items()}
    return [change.new if str(name) == change.old else name for name in declared]


def _writer(function: Function) -> PrimExprWriter:
    return PrimExprWriter({info.symbol: info.var for info in function.symbols if info.var is not None})


def _has_shape_heap(function: Function) -> bool:
    return any(isinstance(op, KernelCall) and op.callee == SHAPE_HEAP for op in function.body.walk())
