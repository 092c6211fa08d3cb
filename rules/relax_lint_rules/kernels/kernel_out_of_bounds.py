"""RLX306 kernel-out-of-bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call of a kernel whose indices do not plainly stay inside its buffers."""
    for use in facts.kernels.uses:
        if not use.kernel.accesses:
            continue
        decision = facts.kernels.decide(use, facts.kernels.stays_inside(use))
        if decision.verdict is Verdict.ALWAYS_FINE:
            yield Judgement(use.call.place, decision, f"`{use.kernel.name}` stays inside its arguments")
            continue
        access = facts.kernels.first_outside(use)
        name = facts.kernels.name_of(use, access.parameter)
        certain = decision.verdict is Verdict.ALWAYS_WRONG
        verb = (
            ("writes" if certain else "may write") if access.writes else ("reads" if certain else "may read")
        )
        yield Judgement(
            use.call.place,
            decision,
            f"`{use.kernel.name}` {verb} outside of {name}, along axis {access.axis}",
            label=f"runs to index {use.match.last_index(access)} of axis {access.axis} of {name}",
            remedies=facts.remedies.assertion(decision, use.call.place),
        )


RULE = Rule(
    code="RLX306",
    name="kernel-out-of-bounds",
    family="kernels",
    summary="a kernel whose indices run over the end of an argument",
    since="0.1.0",
    source=__file__,
    check=check,
)
