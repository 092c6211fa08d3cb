"""RLX308 constant-index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every constant that a kernel uses as indices: they lie inside the axis that they index."""
    for use in facts.kernels.uses:
        for lookup in use.kernel.lookups:
            claim = facts.kernels.looked_up(use, lookup)
            if claim is None:
                continue
            decision = facts.kernels.decide(use, claim)
            name = facts.kernels.name_of(use, lookup.parameter)
            span = facts.kernels.index_span(use, lookup)
            if decision.verdict is Verdict.ALWAYS_FINE:
                message = f"the constant indices {span} lie inside {name}"
            else:
                lie = "lie" if decision.verdict is Verdict.ALWAYS_WRONG else "may lie"
                message = f"the constant indices {span} {lie} outside of axis {lookup.axis} of {name}"
            # Few models are ever called with an empty input.
            mild = decision.verdict is Verdict.NEEDS_RUNTIME_CHECK and facts.kernels.needs_an_element_only(
                use, lookup
            )
            yield Judgement(
                use.call.place,
                decision,
                message,
                label=f"indices {span}",
                severity=Severity.NOTE if mild else None,
                remedies=facts.remedies.assertion(decision, use.call.place),
            )


RULE = Rule(
    code="RLX308",
    name="constant-index",
    family="kernels",
    summary="constant indices that lie outside of the axis they index",
    since="0.1.0",
    source=__file__,
    check=check,
)
