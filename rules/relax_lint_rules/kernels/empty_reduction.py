"""RLX307 empty-reduction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import CheckAtRunTime
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts

_SAYS = {
    Verdict.ALWAYS_FINE: ("no reduction in `{}` is empty", ""),
    Verdict.ALWAYS_WRONG: (
        "`{}` reduces over an empty axis and leaves its result unwritten",
        "reduces over an empty axis",
    ),
    Verdict.NEEDS_RUNTIME_CHECK: (
        "`{}` leaves its result unwritten when its reduction axis is empty",
        "reduces over an axis that may be empty",
    ),
}


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every reduction of a kernel: it has a first iteration, which initialises its result."""
    for decided in facts.indices.reductions():
        use = decided.event
        text, label = _SAYS[decided.decision.verdict]
        message = Message(text.format(use.kernel.name), label=label)
        yield Judgement.of(decided, use.call.place, message, remedy=CheckAtRunTime(safe=False))


RULE = Rule(
    code="RLX307",
    name="empty-reduction",
    family="kernels",
    summary="a reduction over an empty axis, which leaves its result unwritten",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
    severity={
        # Every model that sums over a symbolic axis has one, and few are ever called with an empty input.
        Verdict.NEEDS_RUNTIME_CHECK: Severity.NOTE,
    },
)
