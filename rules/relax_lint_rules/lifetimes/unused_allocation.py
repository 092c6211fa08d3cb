"""RLX208 unused-allocation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Severity
from relax_lint.rule import WARNINGS, Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation: something uses it."""
    # Rules are declared without sympy, which the model needs: a run that finds all in the cache loads none.
    from relax_lint.model.program import AllocTensor

    for allocation in facts.lifetimes.unused:
        name = allocation.place.binding
        on_storage = isinstance(allocation, AllocTensor) and allocation.storage is not None
        size = allocation.bytes if isinstance(allocation, AllocTensor) else allocation.size
        yield Judgement(
            allocation.place,
            facts.lifetimes.on_path(allocation, certain=True, why=""),
            f"`{name}` is never used" + ("" if on_storage else f": {facts.bytes(size)} for nothing"),
            label="nothing uses it",
            # A tensor on a storage takes no memory of its own.
            severity=Severity.NOTE if on_storage else None,
            remedies=facts.remedies.drop_unused(allocation),
        )


RULE = Rule(
    code="RLX208",
    name="unused-allocation",
    family="lifetimes",
    summary="a storage or tensor that is allocated and never used",
    since="0.1.0",
    source=__file__,
    severity=WARNINGS,
    check=check,
    symptoms=NOTHING_TO_SEE,
)
