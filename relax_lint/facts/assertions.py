"""RLX504 and RLX505: can a run-time check of a function fail, and can it hold?

Event: an `R.assert_op`, an `R.match_cast`, or a check that VMShapeLower put in for a declared type.
Claims: what it compares holds over what is enforced before it (RLX504: then it is redundant), and over
all that is believed there (RLX505: refuted, no input passes). Verdict: `always-wrong` where that is
proved, else `always-fine`.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy.logic.boolalg import And, Boolean

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.claims import Claim, all_of
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.kernel_entry import kind_of
from relax_lint.model.operations import AllocStorage, Assert, KernelCall, MatchCast
from relax_lint.model.types import ShapeType, TensorType, TupleType
from relax_lint.results.verdict import Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import certain
from relax_lint.symbolic.domain import FactKind
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.builtins import NULLS


@record(frozen=True)
class RuntimeCheck:
    """A check whose condition is about symbols, and that condition as text."""

    op: Assert | MatchCast
    condition: Boolean | Unknown
    text: str

    @property
    def kind(self) -> str:
        """What the check is, for a message."""
        if isinstance(self.op, MatchCast):
            return "match_cast"
        return "assertion" if self.op.written else "check"


def redundant_checks(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[RuntimeCheck]]:
    """Every assertion of the program's own: something can make it fail. A check of a declared bound does not
    count as proved by that bound.
    """
    for check in runtime_checks(flow):
        if isinstance(check.op, Assert) and check.op.written:
            enforced = judge.domain_at(check.op.place).without(FactKind.ASSUMED, FactKind.GLOBAL)
            decision = judge.judge(Claim(check.condition, enforced))
            answer = certain(Verdict.ALWAYS_FINE, "not proved from the facts that are enforced before it")
            if decision.verdict is Verdict.ALWAYS_FINE and decision.reachable:
                answer = certain(Verdict.ALWAYS_WRONG, decision.proof.detail or "true for every input")
            yield Decided(check, answer)


def failing_checks(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[RuntimeCheck]]:
    """Every check that is reached: some input passes it."""
    for check in runtime_checks(flow):
        decision = judge.judge(judge.claim_at(check.condition, check.op))
        if decision.verdict is not Verdict.ALWAYS_WRONG and decision.reachable:
            decision = certain(Verdict.ALWAYS_FINE, "not proved to fail for every input")
        if decision.reachable:
            yield Decided(check, decision)


def runtime_checks(flow: FunctionFlow) -> Iterator[RuntimeCheck]:
    """Every check of a function whose condition is about symbols."""
    for op in flow.function.body.of(Assert, MatchCast):
        if isinstance(op, MatchCast) and (text := _never_of_type(op, flow)):
            yield RuntimeCheck(op, sympy.false, text)
            continue
        if isinstance(op, Assert) and op.fact is not None:
            conditions = [op.fact.condition]
        elif isinstance(op, MatchCast) and op.facts:
            conditions = [fact.condition for fact in op.facts if fact.kind is FactKind.ENFORCED]
        else:
            continue
        yield RuntimeCheck(op, all_of(conditions), condition_text(And(*conditions)))


def _never_of_type(op: MatchCast, flow: FunctionFlow) -> str:
    """What a cast asks of something that is no such thing in any run: a null value or a storage."""
    is_asked = isinstance(op.type, TensorType | ShapeType) or (
        isinstance(op.type, TupleType) and bool(op.type.fields)
    )
    if not is_asked:
        return ""
    made = [flow.paths.definitions.get(root) for root in flow.aliases.roots_of(op.source)]
    nothing = all(
        isinstance(one, AllocStorage) or (isinstance(one, KernelCall) and one.callee in NULLS) for one in made
    )
    name = flow.function.values[op.source].name
    return f"{name} is {kind_of(op.type)}" if made and nothing else ""
