"""What TVM may leave out fails in no run of what it builds then."""

from __future__ import annotations

from dataclasses import replace

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.at_return import LEFT_OUT
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.rule import Judgement, Rule
from relax_lint.symbolic.decision import Decision, Proof

_UNUSED = Proof(Prover.UNDECIDED, LEFT_OUT)


def unless_left_out(judgement: Judgement, rule: Rule, flow: FunctionFlow) -> Judgement:
    """A judgement that something is wrong; of an operation that TVM may leave out it is not certain that it
    does harm in a run, but what is built without that pass does. What a rule says of the text, and no run
    shows, stands.
    """
    decision = judgement.decision
    place, shows = judgement.place, bool(rule.symptoms) and not judgement.is_refused
    if place is None or not shows or place.index not in flow.left_out:
        return judgement
    unsure = Decision(
        Verdict.NEEDS_RUNTIME_CHECK,
        _UNUSED,
        decision.reachable,
        wrong=decision.wrong,
        reaches=decision.reaches,
    )
    severity = judgement.severity
    if severity is None and not any(presumption.is_environment for presumption in judgement.presumptions):
        severity = rule.severity_of(unsure.verdict)
    return replace(judgement, decision=unsure, severity=severity)
