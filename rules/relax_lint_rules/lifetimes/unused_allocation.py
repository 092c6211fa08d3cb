"""RLX208 unused-allocation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import DropAllocation
from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Severity
from relax_lint.rule import WARNINGS, FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation: something uses it."""
    for decided in facts.unused_allocations():
        unused = decided.event
        place, size = unused.allocation.place, facts.bytes(unused.size)
        text = f"`{place.binding}` is never used" + ("" if unused.on_storage else f" and wastes {size}")
        yield Judgement.of(
            decided,
            place,
            Message(text, label="never used"),
            # A tensor on a storage takes no memory of its own.
            severity=Severity.NOTE if unused.on_storage else None,
            remedy=DropAllocation(unused.allocation),
        )


RULE = Rule(
    code="RLX208",
    name="unused-allocation",
    family="lifetimes",
    summary="a storage or tensor that is allocated and never used",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.ALWAYS,
    severity=WARNINGS,
    symptoms=NOTHING_TO_SEE,
)
