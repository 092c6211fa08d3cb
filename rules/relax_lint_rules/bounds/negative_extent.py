"""RLX104 negative-extent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import CheckAtRunTime
from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.judge import Decided
    from relax_lint.model.operations import OperationId

_SAYS = {
    Verdict.ALWAYS_FINE: "no extent of `{}` is negative",
    Verdict.ALWAYS_WRONG: "an extent of `{}` is negative",
    Verdict.NEEDS_RUNTIME_CHECK: "an extent of `{}` may be negative",
}


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation: no extent and no size is negative."""
    for decided in facts.placement.extents():
        op = decided.event
        yield _judgement(facts, decided, op.place, facts.shape_label(op))
    for result in facts.call_results.extents():
        yield _judgement(facts, result, result.event.call.place, facts.shape_label(result.event.type))


def _judgement(facts: FunctionFacts, decided: Decided[object], place: OperationId, label: str) -> Judgement:
    message = Message(_SAYS[decided.decision.verdict].format(place.binding), label=label)
    # What a kernel of the program computes is not what somebody hands over.
    is_note = facts.is_computed(decided.decision) and not facts.config.strict
    severity = Severity.NOTE if is_note else None
    return Judgement.of(decided, place, message, severity=severity, remedy=CheckAtRunTime())


RULE = Rule(
    code="RLX104",
    name="negative-extent",
    family="bounds",
    summary="a dimension or a storage size that is negative",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
    symptoms=FAILURE,
)
