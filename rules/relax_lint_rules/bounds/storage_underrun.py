"""RLX102 storage-underrun."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor on a storage, and every byte view: offset >= 0."""
    for op in facts.offset_uses:
        decision = facts.judge(facts.starts_inside(op))
        offset = facts.bytes(op.offset)
        if decision.verdict is Verdict.ALWAYS_FINE:
            message = f"`{op.place.binding}` starts inside its memory"
        else:
            message = f"`{op.place.binding}` starts at an offset of {offset}, in front of its memory"
            if decision.verdict is Verdict.NEEDS_RUNTIME_CHECK:
                message = f"`{op.place.binding}` may start in front of its memory: its offset is {offset}"
        yield Judgement(
            op.place,
            decision,
            message,
            label=f"offset of {offset}",
            remedies=facts.remedies.assertion(decision, op.place),
        )


RULE = Rule(
    code="RLX102",
    name="storage-underrun",
    family="bounds",
    summary="a tensor or view that starts in front of its memory",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=FAILURE,
)
