"""RLX301 kernel-shape-mismatch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Prover, Severity, Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call of a kernel: the shapes are those that its entry accepts."""
    for use in facts.kernels.uses:
        decision = facts.kernels.decide(use, facts.kernels.agreement(use))
        if decision.verdict is Verdict.ALWAYS_FINE:
            yield Judgement(
                use.call.place, decision, f"`{use.kernel.name}` accepts the shapes of its arguments"
            )
            continue
        unmet = facts.kernels.first_unmet(use)
        what = "" if unmet is None else facts.kernels.describe(use, unmet)
        verb = "refuses" if decision.verdict is Verdict.ALWAYS_WRONG else "may refuse"
        yield Judgement(
            use.call.place,
            decision,
            f"`{use.kernel.name}` {verb} its arguments: {what}",
            label=what,
            # What the IR does not tell at all (a type that lowering erased) is no reason to stop a build.
            severity=Severity.NOTE if decision.proof.by is Prover.UNDECIDED else None,
            remedies=facts.remedies.assertion(decision, use.call.place),
        )


RULE = Rule(
    code="RLX301",
    name="kernel-shape-mismatch",
    family="kernels",
    summary="a kernel that is called with shapes it does not accept",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=FAILURE,
)
