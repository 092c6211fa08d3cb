"""RLX101 storage-overflow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.placements import Placement
    from relax_lint.symbolic.decision import Decision


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor on a storage: offset + bytes <= capacity."""
    for placement in facts.placements:
        claims = placement.fits(facts.strictest_allocator)
        decision = facts.judge(*claims)
        if decision.verdict is Verdict.ALWAYS_FINE and not decision.assumptions:
            yield Judgement(placement.tensor.place, decision, "the tensor always fits its storage")
            continue
        only_empty = decision.safe_when is not None and facts.holds_only_if(claims[0], placement.empty)
        yield _report(facts, placement, decision, only_empty=only_empty)


def _report(facts: FunctionFacts, placement: Placement, decision: Decision, *, only_empty: bool) -> Judgement:
    tensor, storage = placement.tensor, placement.storage
    needs, offset = facts.bytes(tensor.bytes), facts.bytes(tensor.offset)
    where = (
        "" if tensor.offset == 0 else f" from offset {offset.removesuffix(' bytes').removesuffix(' byte')}"
    )
    message = f"tensor `{tensor.place.binding}` needs {needs}{where}"
    if storage is not None:
        message += f", storage `{storage.place.binding}` has {facts.bytes(storage.size)}"
    if only_empty:
        message += ": fails for every non-empty input"
    remedies = facts.remedies.overflow(placement, decision, check=not only_empty)
    fine = decision.verdict is Verdict.ALWAYS_FINE
    related = () if storage is None else ((f"storage of {facts.bytes(storage.size)}", storage.place),)
    return Judgement(
        place=tensor.place,
        decision=decision,
        message=message,
        label=f"needs {needs}{where}",
        related=related,
        severity=Severity.ERROR if only_empty else None,
        allocators=facts.first_failures(placement),
        remedies=remedies,
        help=() if fine else facts.remedies.instead(placement, remedies),
    )


RULE = Rule(
    code="RLX101",
    name="storage-overflow",
    family="bounds",
    summary="a tensor that does not fit into the storage that it is put on",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=FAILURE,
)
