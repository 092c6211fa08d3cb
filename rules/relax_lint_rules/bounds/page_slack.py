"""RLX105 page-slack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import MakeRoom
from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import WARNINGS, FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.placement import Placement


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Where only the pooled allocator is used: tensors that live in the rounding of a page."""
    for decided in facts.placement.within_declared_sizes():
        placement = decided.event
        message = _message(facts, placement, fine=decided.decision.verdict is Verdict.ALWAYS_FINE)
        yield Judgement.of(decided, placement.tensor.place, message, remedy=MakeRoom(placement))


def _message(facts: FunctionFacts, placement: Placement, *, fine: bool) -> Message:
    tensor, storage = placement.tensor, placement.storage
    name, needs = tensor.place.binding, facts.bytes(tensor.bytes)
    has = "" if storage is None else f" of {facts.bytes(storage.size)}"
    text = f"tensor `{name}` needs {needs} and relies on the page rounding of its storage{has}"
    if fine:
        text = f"tensor `{name}` stays inside the declared size of its storage"
    related = () if storage is None else ((f"storage{has}", storage.place),)
    return Message(text, label=f"needs {needs}", related=related)


RULE = Rule(
    code="RLX105",
    name="page-slack",
    family="bounds",
    summary="a tensor larger than its storage that fits only because the pooled allocator rounds up to pages",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
    severity=WARNINGS,
    symptoms=FAILURE,
    applies=lambda config: "naive" not in config.allocators,
)
