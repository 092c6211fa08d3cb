"""RLX303, beside the kernels: does what takes a tensor at its data pointer get one that starts there?

Event: a packed function or a branch that leaves the offset of a tensor out of account, and a tensor that
does not plainly start at its data pointer. Claim: it does, or has no element. Verdict: that of the provers,
and never `always-wrong`: what is at the data pointer may be the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.claims import equal
from relax_lint.facts.judge import Decided, Judge
from relax_lint.model.operations import If, KernelCall, ValueId
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.vm.builtins import AT_DATA_POINTER


@record(frozen=True)
class ReadAtStart:
    """`op` looks for `value` at its data pointer, and it starts `offset` bytes behind that."""

    op: KernelCall | If
    value: ValueId
    offset: Size

    @property
    def by(self) -> str:
        """What looks for it, for a message."""
        return f"`{self.op.callee}`" if isinstance(self.op, KernelCall) else "the branch on it"


def reads_at_start(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[ReadAtStart]]:
    """Every tensor at an offset that goes to what leaves that out of account."""
    for op in flow.function.body.of(KernelCall, If):
        for value in _values(op):
            offset = flow.aliases.offsets.of(value)
            if offset != 0:
                yield _decided(ReadAtStart(op, value, offset), flow, judge)


def _values(op: KernelCall | If) -> tuple[ValueId, ...]:
    if isinstance(op, If):
        return (op.condition,)
    return tuple(dict.fromkeys(op.arguments)) if op.callee in AT_DATA_POINTER else ()


def _decided(event: ReadAtStart, flow: FunctionFlow, judge: Judge) -> Decided[ReadAtStart]:
    condition = event.offset if isinstance(event.offset, Unknown) else equal(event.offset, sympy.Integer(0))
    empty = flow.memory.range(event.value).empty
    if not isinstance(condition, Unknown) and not isinstance(empty, Unknown):
        condition = sympy.Or(condition, empty)
    why_not = "on the host it takes what is at the start of the memory"
    return Decided(event, judge.judge_event(judge.claim_at(condition, event.op), Certainty.MAY, why_not))
