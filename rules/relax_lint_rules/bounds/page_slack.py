"""RLX105 page-slack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import WARNINGS, Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Where only the pooled allocator is used: tensors that live in the rounding of a page."""
    if not facts.only_pooled:
        return
    for placement in facts.placements:
        decision = facts.judge(*facts.within_declared(placement))
        tensor, storage = placement.tensor, placement.storage
        has = "" if storage is None else f" of {facts.bytes(storage.size)}"
        message = f"tensor `{tensor.place.binding}` stays inside the declared size of its storage"
        if decision.verdict is not Verdict.ALWAYS_FINE:
            message = (
                f"tensor `{tensor.place.binding}` needs {facts.bytes(tensor.bytes)} and relies on the page "
                f"rounding of its storage{has}"
            )
        yield Judgement(
            place=tensor.place,
            decision=decision,
            message=message,
            label=f"needs {facts.bytes(tensor.bytes)}",
            related=() if storage is None else ((f"storage{has}", storage.place),),
            remedies=facts.remedies.overflow(placement, decision),
        )


RULE = Rule(
    code="RLX105",
    name="page-slack",
    family="bounds",
    summary="a tensor larger than its storage that fits only because the pooled allocator rounds up to pages",
    since="0.1.0",
    source=__file__,
    severity=WARNINGS,
    check=check,
    symptoms=FAILURE,
    applies=lambda config: "naive" not in config.allocators,
)
