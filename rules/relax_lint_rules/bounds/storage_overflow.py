"""RLX101 storage-overflow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import MakeRoom
from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.placement import Placement


_MOST = 3
"""How many storages are named of those that a tensor may be on."""


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor on a storage: offset + bytes <= capacity."""
    for decided in facts.placement.fits():
        placement, decision = decided.event, decided.decision
        if decision.verdict is Verdict.ALWAYS_FINE and not decision.assumptions:
            message = Message("the tensor always fits its storage")
            yield Judgement.of(decided, placement.tensor.place, message)
            continue
        yield Judgement.of(
            decided,
            placement.tensor.place,
            _message(facts, placement, facts.wrong_unless(decided)),
            allocators=facts.placement.first_failures(placement),
            remedy=MakeRoom(placement, check=not decided.only_empty, instead=True),
        )


def _message(facts: FunctionFacts, placement: Placement, wrong_unless: str) -> Message:
    tensor, storages = placement.tensor, placement.each
    needs, offset = facts.bytes(tensor.bytes), facts.bytes(tensor.offset)
    where = (
        "" if tensor.offset == 0 else f" from offset {offset.removesuffix(' bytes').removesuffix(' byte')}"
    )
    text = f"tensor `{tensor.place.binding}` needs {needs}{where}"
    has = [f"`{storage.place.binding}` has {facts.bytes(storage.size)}" for storage in storages[:_MOST]]
    if len(storages) == 1:
        text += f", storage {has[0]}"
    elif storages:
        more = f", and {len(storages) - _MOST} more" if len(storages) > _MOST else ""
        text += f", and may be on one of {len(storages)} storages: {', '.join(has)}{more}"
    text += wrong_unless
    related = tuple(
        (f"storage of {facts.bytes(storage.size)}", storage.place) for storage in storages[:_MOST]
    )
    return Message(text, label=f"needs {needs}{where}", related=related)


RULE = Rule(
    code="RLX101",
    name="storage-overflow",
    family="bounds",
    summary="a tensor that does not fit into the storage that holds it",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
    symptoms=FAILURE,
)
