"""RLX103 size-overflow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation: the runtime's byte arithmetic does not wrap around."""
    for op in facts.allocations:
        decision = facts.judge(facts.no_overflow(op))
        if decision.verdict is Verdict.ALWAYS_FINE:
            message = f"the size of `{op.place.binding}` is computed without overflow"
        elif decision.verdict is Verdict.ALWAYS_WRONG:
            message = (
                f"the size of `{op.place.binding}` overflows 64 bits, so that the VM checks a wrong number"
            )
        else:
            message = (
                f"the size of `{op.place.binding}` may overflow 64 bits, so that the VM checks a wrong number"
            )
        yield Judgement(
            op.place,
            decision,
            message,
            label="size computed modulo 2**64",
            remedies=facts.remedies.assertion(decision, op.place),
        )


RULE = Rule(
    code="RLX103",
    name="size-overflow",
    family="bounds",
    summary="a size that wraps around in the runtime's 64-bit arithmetic",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=FAILURE,
)
