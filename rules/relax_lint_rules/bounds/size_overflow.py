"""RLX103 size-overflow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import CheckAtRunTime
from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts

_SAYS = {
    Verdict.ALWAYS_FINE: "the size of `{}` is computed without overflow",
    Verdict.ALWAYS_WRONG: "the size of `{}` overflows",
    Verdict.NEEDS_RUNTIME_CHECK: "the size of `{}` may overflow",
}


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation: the runtime's byte arithmetic does not wrap around."""
    for decided in facts.placement.sizes():
        place = decided.event.place
        text = _SAYS[decided.decision.verdict].format(place.binding)
        if decided.decision.verdict is not Verdict.ALWAYS_FINE:
            text += " 64 bits, so the VM checks the wrong number"
        message = Message(text, label="size computed modulo 2**64")
        # What a kernel of the program computes is not what somebody hands over.
        is_note = facts.is_computed(decided.decision) and not facts.config.strict
        severity = Severity.NOTE if is_note else None
        yield Judgement.of(decided, place, message, severity=severity, remedy=CheckAtRunTime())


RULE = Rule(
    code="RLX103",
    name="size-overflow",
    family="bounds",
    summary="a size that wraps around in the runtime's 64-bit arithmetic",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
    symptoms=FAILURE,
)
