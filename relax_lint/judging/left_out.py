"""What TVM may leave out, or only calls get to that were not read, is not certain to fail in any run."""

from __future__ import annotations

from dataclasses import replace

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.at_return import LEFT_OUT
from relax_lint.facts.function import FunctionFacts
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.rule import Judgement, Rule
from relax_lint.symbolic.decision import Decision, Proof

_UNUSED = Proof(Prover.UNDECIDED, LEFT_OUT)
_UNREAD = Proof(Prover.UNDECIDED, "no call of this function that was read gets here; others were not read")


def unless_left_out(judgement: Judgement, rule: Rule, flow: FunctionFlow) -> Judgement:
    """A judgement that something is wrong; of an operation that TVM may leave out it is not certain that it
    does harm in a run, but what is built without that pass does. What a rule says of the text, and no run
    shows, stands.
    """
    place = _shown_at(judgement, rule)
    return judgement if place is None or place not in flow.left_out else _unsure(judgement, rule, _UNUSED)


def unless_unread(judgement: Judgement, rule: Rule, facts: FunctionFacts) -> Judgement:
    """A judgement on what may not be fine: undecided where no call gets to the operation that was read, and
    others were not.
    """
    places, place = facts.untaken_in_read_calls, _shown_at(judgement, rule)
    return judgement if place is None or place not in places else _unsure(judgement, rule, _UNREAD)


def _shown_at(judgement: Judgement, rule: Rule) -> int | None:
    """The operation that a judgement is about, where it is about what happens in a run."""
    place, shows = judgement.place, bool(rule.symptoms) and not judgement.is_refused
    return place.index if place is not None and shows else None


def _unsure(judgement: Judgement, rule: Rule, proof: Proof) -> Judgement:
    decision = judgement.decision
    unsure = Decision(
        Verdict.NEEDS_RUNTIME_CHECK,
        proof,
        decision.reachable,
        wrong=decision.wrong,
        reaches=decision.reaches,
    )
    severity = judgement.severity
    if severity is None and not any(presumption.is_environment for presumption in judgement.presumptions):
        severity = rule.severity_of(unsure.verdict)
    return replace(judgement, decision=unsure, severity=severity)
