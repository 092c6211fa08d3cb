"""What TVM may leave out: `FoldConstant`, which the default pipelines run, drops what nothing uses."""

from __future__ import annotations

from collections.abc import Iterable

from relax_lint.analysis.liveness import leaves, operands
from relax_lint.model.operations import Assert, Block, FunctionCall, If, KernelCall, Kill, Op, ValueId
from relax_lint.model.program import Function
from relax_lint.vm import versions
from relax_lint.vm.calls import CallKind

_IMPURE = frozenset({CallKind.PRIM_FUNC, CallKind.CALL_TIR_DYN, CallKind.BUILTIN})


def left_out(function: Function, used_inside: Iterable[ValueId] = ()) -> frozenset[ValueId]:
    """The results of calls that nothing needs which TVM has to keep: what a function returns, what functions
    inside of it use, and what has effects that its type shows.
    """
    calls = function.body.of(KernelCall)
    if not calls:
        return frozenset()
    needed = {*leaves((function.result,), function), *used_inside}
    _walk(function.body, needed, function)
    return frozenset(call.result for call in calls if call.result not in needed and not _is_kept(call))


def _walk(block: Block, needed: set[ValueId], function: Function) -> bool:
    """Adds what a block needs; whether anything in it is kept."""
    kept = False
    for op in reversed(block.ops):
        if isinstance(op, If):
            is_needed = op.result in needed
            if is_needed:
                needed.update(leaves((op.then_result, op.else_result), function))
            inside = [_walk(part, needed, function) for part in (op.then_block, op.else_block)]
            is_needed = is_needed or any(inside)
        else:
            is_needed = op.result in needed or _is_kept(op)
        if is_needed:
            needed.update(operands(op, function))
            kept = True
    return kept


def _is_kept(op: Op) -> bool:
    if isinstance(op, KernelCall):
        return op.kind in _IMPURE or (op.kind is CallKind.PACKED and not op.pure)
    if isinstance(op, FunctionCall):
        return not versions.is_pure_call(op.place.node)
    return isinstance(op, Assert | Kill)
