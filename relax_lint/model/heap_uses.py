"""What every operation does to the shape heaps that it uses: other names of them, writes, escapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy

from relax_lint.model.context import BuildContext
from relax_lint.model.heap_calls import follow_call
from relax_lint.model.heap_contents import UNSURE, WRITTEN
from relax_lint.model.heap_functions import run_on_heaps
from relax_lint.model.heap_state import count_of
from relax_lint.model.operations import (
    Alias,
    Constant,
    FunctionCall,
    GetItem,
    KernelCall,
    MakeTuple,
    MatchCast,
    Op,
    View,
)
from relax_lint.model.shape_heap import HeapUse
from relax_lint.vm import versions
from relax_lint.vm.builtins import BUILTINS, NULLS, SHAPE_HEAP, Returns, ViewKind
from relax_lint.vm.calls import CallKind

"""What makes the value that is passed for the heap of a function without symbols."""

_CHECKS = "vm.builtin.check_"


def settle(context: BuildContext, op: Op) -> None:
    """Follow the heaps through an operation that was built."""
    handler = _HANDLERS.get(type(op))
    if handler is not None:
        handler(context, op)
    if context.heaps.following.outside and isinstance(result := getattr(op, "result", None), int):
        ways = WRITTEN if _is_filled(context, op) else UNSURE
        context.heaps.result_of(result, context.values[result].type, ways)
    touched = context.touched
    if not touched:
        return
    if _is_check(op):
        touched = {value for value in touched if context.heaps.known_among({value})}
    context.used |= touched


def _is_check(op: Op) -> bool:
    """Whether an operation only checks the type of what it is given."""
    if isinstance(op, KernelCall):
        return op.callee.startswith(_CHECKS)
    return getattr(op, "written", True) is False


def _renamed(context: BuildContext, op: Any) -> None:
    context.heaps.rename(op.result, op.source)


def _view(context: BuildContext, op: Any) -> None:
    if op.kind is ViewKind.COPY or (op.kind is ViewKind.RESHAPE and not op.may_be_copied):
        # The slots are counted through, whatever the shape is.
        context.heaps.rename(op.result, op.source)
    else:
        context.heaps.escape({op.source})


def _packed(context: BuildContext, op: Any) -> None:
    context.heaps.pack(op.result, op.items)


def _unpacked(context: BuildContext, op: Any) -> None:
    context.heaps.unpack(op.result, op.tuple, op.item)


def _called(context: BuildContext, op: Any) -> None:
    heaps, callee = context.heaps, None
    heaps.before_call(op.place.index, context.touched)
    if op.target is not None and versions.kind(getattr(op.place.node, "op", None)) == "GlobalVar":
        callee = context.callee(op.target, heaps=bool(heaps.among(context.touched)))
    if callee is None or not follow_call(heaps, callee, op.arguments, op.result):
        heaps.escape({*op.arguments, *context.touched})


def _kernel_call(context: BuildContext, op: Any) -> None:
    if op.callee == SHAPE_HEAP:
        context.heaps.allocate(op.result, count_of(op.type))
    elif op.callee in NULLS:
        context.heaps.allocate(op.result, sympy.Integer(0))
    # The fields of a tuple that is written as an argument are used, too.
    elif context.heaps.among(context.touched) and not _leaves_alone(op):
        is_followed = op.kind.runs_kernel and _run(context, op)
        context.heaps.escape(context.touched.difference(op.arguments if is_followed else ()))


def _run(context: BuildContext, op: KernelCall) -> bool:
    """A call of a PrimFunc: whether it was followed."""
    prim_func = _prim_func(context, op.callee)
    if prim_func is None:
        return False
    heaps: dict[int, HeapUse] = {}
    for position, argument in enumerate(op.arguments):
        for root in context.heaps.among({argument}):
            heaps[position] = HeapUse(context.heaps, root, context.values[argument].name, op.place)
    node = op.place.node
    given = node.args[:] if op.kind is CallKind.PRIM_FUNC else ()
    # The first argument of an operator names the kernel.
    operands = given if versions.kind(node.op) in ("GlobalVar", "ExternFunc") else given[1:]
    run_on_heaps(prim_func, heaps, operands, context.translator)
    return True


def _prim_func(context: BuildContext, name: str) -> Any | None:
    for var, function in context.module.functions.items():
        if str(var.name_hint) == name:
            return None if versions.is_relax(function) else function
    return None


def _is_filled(context: BuildContext, op: Op) -> bool:
    """Whether what an operation gives is written: by a kernel, or somebody unknown who was given no heap."""
    if isinstance(op, KernelCall):
        heaps = context.heaps
        return op.callee not in BUILTINS and not heaps.known_among(context.touched) and not heaps.keeps_any
    return isinstance(op, Constant)


def _leaves_alone(op: KernelCall) -> bool:
    """Whether a call is of a builtin that neither writes nor keeps what it is given."""
    row = BUILTINS.get(op.callee)
    return row is not None and row.is_call and row.returns is Returns.NOTHING and not row.writes


_HANDLERS: Mapping[type[Op], Callable[[BuildContext, Any], None]] = {
    Alias: _renamed,
    MatchCast: _renamed,
    View: _view,
    MakeTuple: _packed,
    GetItem: _unpacked,
    KernelCall: _kernel_call,
    FunctionCall: _called,
}
