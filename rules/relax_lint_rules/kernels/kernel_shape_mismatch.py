"""RLX301 kernel-shape-mismatch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import check_unless_empty
from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.judge import Decided
    from relax_lint.facts.kernels import KernelUse


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call of a kernel or of a Relax function: its entry accepts the shapes."""
    for decided in facts.arguments.shapes():
        use, decision = decided.event, decided.decision
        message = Message(f"`{use.kernel.name}` accepts the shapes of its arguments")
        if decision.verdict is not Verdict.ALWAYS_FINE:
            message = _message(facts, decided)
        yield Judgement.of(decided, use.call.place, message, remedy=check_unless_empty(decided))
    for called in facts.accepted_calls():
        event, verdict = called.event, called.decision.verdict
        message = Message(f"`{event.function}` accepts the shapes of its arguments")
        if verdict is not Verdict.ALWAYS_FINE:
            text = f"`{event.function}` {_rejects(called)} its arguments: {event.unmet}"
            message = Message(text + facts.wrong_unless(called), label=event.unmet)
        yield Judgement.of(called, event.call.place, message, remedy=check_unless_empty(called))


def _message(facts: FunctionFacts, decided: Decided[KernelUse]) -> Message:
    use = decided.event
    unmet = facts.arguments.first_unmet(use)
    what = "" if unmet is None else facts.arguments.describe(use, unmet)
    text = f"`{use.kernel.name}` {_rejects(decided)} its arguments: {what}"
    return Message(text + facts.wrong_unless(decided), label=what)


def _rejects(decided: Decided[object]) -> str:
    certain = decided.decision.verdict is Verdict.ALWAYS_WRONG or decided.only_empty
    return "rejects" if certain else "may reject"


RULE = Rule(
    code="RLX301",
    name="kernel-shape-mismatch",
    family="kernels",
    summary="a kernel or function that is called with shapes it does not accept",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
    symptoms=FAILURE,
)
