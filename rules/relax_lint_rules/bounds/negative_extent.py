"""RLX104 negative-extent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation: no extent and no size is negative."""
    for op in facts.allocations:
        decision = facts.judge(facts.no_negative_extent(op))
        if decision.verdict is Verdict.ALWAYS_FINE:
            message = f"no extent of `{op.place.binding}` is negative"
        elif decision.verdict is Verdict.ALWAYS_WRONG:
            message = f"an extent of `{op.place.binding}` is negative"
        else:
            message = f"an extent of `{op.place.binding}` may be negative"
        yield Judgement(
            op.place,
            decision,
            message,
            label=facts.shape_label(op),
            remedies=facts.remedies.assertion(decision, op.place),
        )


RULE = Rule(
    code="RLX104",
    name="negative-extent",
    family="bounds",
    summary="a dimension or a storage size that is negative",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=FAILURE,
)
