"""RLX307 empty-reduction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every reduction of a kernel: it has a first step, in which its result is initialised."""
    for use in facts.kernels.uses:
        if not use.kernel.reductions:
            continue
        decision = facts.kernels.decide(use, facts.kernels.initialises(use))
        name = use.kernel.name
        if decision.verdict is Verdict.ALWAYS_FINE:
            message, label = f"no reduction in `{name}` is empty", ""
        elif decision.verdict is Verdict.ALWAYS_WRONG:
            message = f"`{name}` reduces over an axis without elements and leaves its result unwritten"
            label = "reduces over an empty axis"
        else:
            message = f"`{name}` leaves its result unwritten when the axis that it reduces over is empty"
            label = "reduces over an axis that may be empty"
        yield Judgement(
            use.call.place,
            decision,
            message,
            label=label,
            remedies=facts.remedies.assertion(decision, use.call.place, safe=False),
        )


RULE = Rule(
    code="RLX307",
    name="empty-reduction",
    family="kernels",
    summary="a reduction over an axis without elements, which leaves its result unwritten",
    since="0.1.0",
    source=__file__,
    severity={
        Verdict.ALWAYS_WRONG: Severity.ERROR,
        Verdict.ALWAYS_FINE: Severity.NONE,
        # Every model that sums over a symbolic axis has one, and few are ever called with an empty input.
        Verdict.NEEDS_RUNTIME_CHECK: Severity.NOTE,
    },
    check=check,
)
