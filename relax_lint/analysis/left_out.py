"""What TVM may leave out: `FoldConstant`, which the pipelines of targets run, drops what nothing uses."""

from __future__ import annotations

from collections.abc import Iterable

from relax_lint.analysis.liveness import leaves, operands
from relax_lint.model.operations import Assert, Block, If, Kill, MatchCast, Op, ValueId
from relax_lint.model.program import Function
from relax_lint.vm import versions


def left_out(function: Function, used_inside: Iterable[ValueId] = ()) -> frozenset[int]:
    """The indices of the operations that nothing needs which TVM has to keep: what a function returns, what
    functions inside of it use, casts, and calls that its operators and types say have effects.
    """
    needed, found = {*leaves((function.result,), function), *used_inside}, set[int]()
    _walk(function.body, needed, found, function)
    return frozenset(found)


def _walk(block: Block, needed: set[ValueId], left: set[int], function: Function) -> bool:
    """Adds what a block needs, and what is left out; whether anything in it is kept."""
    kept = False
    for op in reversed(block.ops):
        if isinstance(op, If):
            is_needed = op.result in needed
            if is_needed:
                needed.update(leaves((op.then_result, op.else_result), function))
            inside = [_walk(part, needed, left, function) for part in (op.then_block, op.else_block)]
            is_needed = is_needed or any(inside)
        else:
            is_needed = op.result in needed or _is_kept(op)
        if is_needed:
            # A kill reads nothing, but what it kills has to be there.
            needed.update((op.target,) if isinstance(op, Kill) else operands(op, function))
            kept = True
        else:
            left.add(op.place.index)
    return kept


def _is_kept(op: Op) -> bool:
    if isinstance(op, Assert | Kill | MatchCast):
        return True
    node = op.place.node
    return versions.is_call(node) and not versions.is_pure_call(node)
