"""RLX102 storage-underrun."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import CheckAtRunTime
from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts

_SAYS = {
    Verdict.ALWAYS_FINE: "`{name}` starts inside its storage",
    Verdict.ALWAYS_WRONG: "`{name}` starts at offset {offset}, before the start of its storage",
    Verdict.NEEDS_RUNTIME_CHECK: "`{name}` may start before the start of its storage: its offset is {offset}",
}


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor on a storage, and every byte view: offset >= 0."""
    for decided in facts.placement.starts():
        op = decided.event
        offset = facts.bytes(facts.placement.start_of(op))
        text = _SAYS[decided.decision.verdict].format(name=op.place.binding, offset=offset)
        message = Message(text, label=f"offset {offset}")
        yield Judgement.of(decided, op.place, message, remedy=CheckAtRunTime())


RULE = Rule(
    code="RLX102",
    name="storage-underrun",
    family="bounds",
    summary="a tensor or view that starts before the start of its storage",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
    symptoms=FAILURE,
)
