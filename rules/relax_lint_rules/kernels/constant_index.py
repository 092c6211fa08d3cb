"""RLX308 constant-index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import CheckAtRunTime
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule
from relax_lint.symbolic.printing import expr_text

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts

_POSITION = {
    Verdict.ALWAYS_FINE: "are inside",
    Verdict.ALWAYS_WRONG: "are outside axis {} of",
    Verdict.NEEDS_RUNTIME_CHECK: "may be outside axis {} of",
}
_BESIDE = ("the element of an index beyond its axis may be one of another row, inside the memory",)


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """What a kernel uses as indices and is known: they are inside the axis that they index."""
    for decided in facts.indices.known_lookups():
        event, verdict = decided.event, decided.decision.verdict
        span = f"indices {expr_text(event.first)} to {expr_text(event.last)}"
        position = _POSITION[verdict].format(event.lookup.axis)
        if event.is_beside:
            position = f"are beyond axis {event.lookup.axis} of"
        name = facts.kernels.name_of(event.use, event.lookup.parameter)
        of = "the constant" if event.is_constant else "the computed"
        # Few models are ever called with an empty input.
        mild = verdict is Verdict.NEEDS_RUNTIME_CHECK and facts.indices.needs_an_element_only(event)
        yield Judgement.of(
            decided,
            event.use.call.place,
            Message(f"{of} {span} {position} {name}", label=span, notes=_BESIDE if event.is_beside else ()),
            severity=Severity.NOTE if mild else None,
            remedy=CheckAtRunTime(),
        )


RULE = Rule(
    code="RLX308",
    name="constant-index",
    family="kernels",
    summary="constant or computed indices outside the axis that they index",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
)
