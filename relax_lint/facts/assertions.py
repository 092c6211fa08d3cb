"""RLX504 and RLX505: can a run-time check of a function fail, and can it hold?

Event: an `R.assert_op`, an `R.match_cast`, or a check that VMShapeLower put in for a declared type; a branch,
an allocation, a view or a builtin that is given a null value; a call of a function that returns nothing.
Claims: what it compares holds over what is enforced before it (RLX504: then it is redundant), and over all
that is believed there (RLX505: refuted, no input passes). Verdict: `always-wrong` where that is proved, else
`always-fine`; `needs-runtime-check` where it is a null value on some paths.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.claims import Claim, all_of
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.wrong_things import gets_what_it_takes, given_otherwise, never_function
from relax_lint.model.operations import (
    AllocTensor,
    Assert,
    Constant,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    MatchCast,
    Op,
    View,
)
from relax_lint.results.verdict import Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import certain
from relax_lint.symbolic.domain import FactKind, compared_text
from relax_lint.symbolic.quantity import Unknown


@record(frozen=True)
class RuntimeCheck:
    """A check whose condition is about symbols, and that condition as text."""

    op: Op
    condition: Boolean | Unknown
    text: str
    certainty: Certainty = Certainty.MUST
    """Whether a value that is no such thing is one in each run."""
    null: bool = True
    """Whether that is a null value."""

    @property
    def kind(self) -> str:
        """What the check is, for a message."""
        if isinstance(self.op, Assert):
            return "assertion" if self.op.written else "check"
        return _KINDS.get(type(self.op), "call")


def redundant_checks(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[RuntimeCheck]]:
    """Every assertion of the program's own: something can make it fail. A check of a declared bound does not
    count as proved by that bound.
    """
    written = (op for op in flow.function.body.of(Assert) if op.written)
    for check in (check for op in written for check in _checks_of(op, flow)):
        enforced = judge.domain_at(check.op.place).without(FactKind.ASSUMED, FactKind.GLOBAL)
        decision = judge.judge(Claim(check.condition, enforced))
        answer = certain(Verdict.ALWAYS_FINE, "not proved from the facts that are enforced before it")
        if decision.verdict is Verdict.ALWAYS_FINE and decision.reachable:
            answer = certain(Verdict.ALWAYS_WRONG, decision.proof.detail or "true for every input")
        yield Decided(check, answer)


def failing_checks(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[RuntimeCheck]]:
    """Every check that is reached: some input passes it."""
    for check in runtime_checks(flow):
        claim = judge.claim_at(check.condition, check.op)
        why_not = f"it is {'a null value' if check.null else 'something else'} on some paths"
        decision = judge.judge_event(claim, check.certainty, why_not)
        is_told = decision.verdict is Verdict.ALWAYS_WRONG or check.certainty is Certainty.MAY
        if not is_told and decision.reachable:
            decision = certain(Verdict.ALWAYS_FINE, "not proved to fail for every input")
        if decision.reachable:
            yield Decided(check, decision)


def runtime_checks(flow: FunctionFlow) -> Iterator[RuntimeCheck]:
    """Every check of a function whose condition is about symbols, or that something can never pass."""
    for op in flow.function.body.of(
        Constant, Assert, MatchCast, If, AllocTensor, View, GetItem, KernelCall, FunctionCall
    ):
        if not gets_what_it_takes(op, flow):
            yield from _checks_of(op, flow)


def _checks_of(op: Op, flow: FunctionFlow) -> Iterator[RuntimeCheck]:
    wrong = list(given_otherwise(op, flow))
    for one in wrong:
        yield RuntimeCheck(op, sympy.false, one.text, one.certainty, one.null)
    if isinstance(op, MatchCast) and (text := never_function(op, flow)):
        yield RuntimeCheck(op, sympy.false, text)
    if isinstance(op, MatchCast) and any(one.certainty is Certainty.MUST for one in wrong):
        return
    if isinstance(op, Assert) and op.fact is not None:
        facts = [op.fact]
    elif isinstance(op, MatchCast) and op.facts:
        facts = [fact for fact in op.facts if fact.kind is FactKind.ENFORCED]
    else:
        return
    if facts:
        yield RuntimeCheck(op, all_of([fact.condition for fact in facts]), compared_text(facts))


_KINDS: dict[type[Op], str] = {
    MatchCast: "match_cast",
    If: "branch",
    AllocTensor: "allocation",
    View: "view",
    GetItem: "access",
    Constant: "call",
}
