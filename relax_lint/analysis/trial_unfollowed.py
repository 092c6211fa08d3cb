"""What a run that is tried does not follow: operations that are not carried out."""

from __future__ import annotations

from collections.abc import Sequence

from relax_lint.analysis.liveness import operands
from relax_lint.analysis.observed_parts import Flow
from relax_lint.analysis.trial_tensors import Seen, Unclear
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId
from relax_lint.model.types import may_hold_memory
from relax_lint.vm.builtins import BUILTINS, NULLS
from relax_lint.vm.calls import CallKind

KNOWN_KINDS = (CallKind.CALL_TIR, CallKind.CALL_TIR_INPLACE, CallKind.PRIM_FUNC)
"""The calls of kernels of the module."""


def looked_at(op: Op, flow: Flow) -> Sequence[ValueId]:
    """The operands of which an operation may look at the elements, or hand them on."""
    if isinstance(op, KernelCall) and not may_hold_memory(op.type):
        effect = flow.effect_of(op)
        if effect.known:
            used = effect.reads | effect.writes
            return [value for at, value in enumerate(op.arguments) if at in used]
    return operands(op, flow.function)


def require_shown(op: Op, flow: Flow) -> None:
    """Of an operation that is done with damage only, or without it only: raises `Seen` where that shows, and
    `Unclear` where it stores something that is not known.
    """
    if isinstance(op, KernelCall):
        effect = flow.effect_of(op)
        if op.kind in KNOWN_KINDS:
            raise Unclear
        if op.callee in NULLS or (op.callee in BUILTINS and effect.known and not effect.writes):
            return
    if isinstance(op, FunctionCall | KernelCall):
        raise Seen
