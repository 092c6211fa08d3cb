"""RLX303, beside the kernels: does what takes a tensor at its data pointer get one that starts there?

Event: a packed function or a branch that leaves the offset of a tensor out of account, and a tensor that
does not plainly start at its data pointer. Claim: it does, or has no element. Verdict: that of the provers,
and never `always-wrong`: what is at the data pointer may be the same.

Event: an operator of which TVM makes a kernel that refuses such a tensor. Claim: it starts there. Verdict:
that of the provers, and not `always-wrong` where TVM may make a view instead, or leave the operator out.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.lowered_operators import Path
from relax_lint.analysis.made_views import is_inside
from relax_lint.analysis.offsets import is_zero, joined_starts
from relax_lint.facts.claims import either, equal
from relax_lint.facts.judge import Decided, Judge
from relax_lint.model.operations import If, KernelCall, Op, ValueId, View
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.vm.builtins import AT_DATA_POINTER
from relax_lint.vm.calls import CallKind

_RESHAPE = "reshape"
_OUTSIDE = "outside of a dataflow block `LegalizeOps` makes a kernel of it, and no view"


@record(frozen=True)
class ReadAtStart:
    """`op` looks for `value` at its data pointer, and it starts `offset` bytes behind that. An operator is
    made a kernel that `refuses` it there.
    """

    op: KernelCall | If | View
    value: ValueId
    offset: Size
    refuses: bool = False

    @property
    def by(self) -> str:
        """What looks for it, for a message."""
        if isinstance(self.op, View):
            return f"`relax.{_RESHAPE}`"
        return f"`{self.op.callee}`" if isinstance(self.op, KernelCall) else "the branch on it"


def reads_at_start(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[ReadAtStart]]:
    """Every tensor at an offset that goes to what leaves that out of account."""
    for op in flow.function.body.of(KernelCall, If, View):
        for value in _values(op):
            offset = flow.aliases.offsets.of(value)
            if offset != 0:
                yield _decided(ReadAtStart(op, value, offset), flow, judge)
        if isinstance(op, KernelCall) and op.kind is CallKind.OPERATOR and op.callee not in AT_DATA_POINTER:
            yield from _refused(op, flow, judge)
        elif isinstance(op, View) and op.may_be_copied and not is_inside(op):
            offset = flow.aliases.offsets.of(op.source)
            if offset != 0:
                yield _refused_at(op, op.source, offset, judge, Certainty.MAY, _OUTSIDE)


def _values(op: Op) -> tuple[ValueId, ...]:
    if isinstance(op, If):
        return (op.condition,)
    if not isinstance(op, KernelCall) or op.callee not in AT_DATA_POINTER:
        return ()
    return tuple(dict.fromkeys(op.arguments))


def _refused(op: KernelCall, flow: FunctionFlow, judge: Judge) -> Iterator[Decided[ReadAtStart]]:
    """The tensors at an offset that the kernels of an operator do not take."""
    starts = flow.aliases.offsets.starts
    if all(is_zero(starts(argument)) for argument in op.arguments):
        return
    lowered = flow.lowered(op)
    certainty, why_not = Certainty.MUST, ""
    if lowered.reshapes and is_inside(op):
        certainty, why_not = Certainty.MAY, "TVM may make a view of it instead of a kernel"
    for value, offset in dict.fromkeys(_field(path, op, flow) for path in sorted(lowered.taken)):
        if offset != 0:
            yield _refused_at(op, value, offset, judge, certainty, why_not)


def _refused_at(
    op: KernelCall | View, value: ValueId, offset: Size, judge: Judge, certainty: Certainty, why_not: str
) -> Decided[ReadAtStart]:
    decision = judge.judge_event(judge.claim_at(_starts_there(offset), op), certainty, why_not)
    return Decided(ReadAtStart(op, value, offset, refuses=True), decision)


def _starts_there(offset: Size) -> Boolean | Unknown:
    """A tensor with an offset starts at its data pointer."""
    return offset if isinstance(offset, Unknown) else equal(offset, sympy.Integer(0))


def _field(path: Path, op: KernelCall, flow: FunctionFlow) -> tuple[ValueId, Size]:
    """A tensor among the arguments, or the tuple that it is a field of, and where it starts."""
    value, fields = op.arguments[path[0]], path[1:]
    while fields and value in flow.function.inline_tuples:
        value, fields = flow.function.inline_tuples[value][fields[0]], fields[1:]
    starts = flow.aliases.offsets.starts(value)
    for field in fields:
        starts = starts[field] if isinstance(starts, tuple) and field < len(starts) else starts
    return value, joined_starts(starts)


def _decided(event: ReadAtStart, flow: FunctionFlow, judge: Judge) -> Decided[ReadAtStart]:
    empty = flow.memory.range(event.value).empty
    condition = either(_starts_there(event.offset), sympy.false if isinstance(empty, Unknown) else empty)
    why_not = "on the host it takes what is at the start of the memory"
    return Decided(event, judge.judge_event(judge.claim_at(condition, event.op), Certainty.MAY, why_not))
