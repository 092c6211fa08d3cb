"""RLX602 planning-waste."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.rule import NOTES, Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts

FACTOR = 2
"""How often the planned total may hold what the tensors need at one time."""


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every function that has storages: together they are not far above what the tensors need."""
    budgets = facts.budgets
    storage = budgets.largest_storage
    if storage is None:
        return
    decision = facts.judge(budgets.planned_within(FACTOR))
    planned, least = facts.budgets.text(budgets.planned), facts.budgets.text(budgets.lower_bound)
    message = f"the storages of `{facts.function.name}` take {planned}, its tensors need {least} at one time"
    yield Judgement(
        place=storage.place,
        decision=decision,
        message=message,
        label=f"the largest storage: {facts.bytes(storage.size)}",
        help=("let tensors that do not live at the same time share a storage",),
    )


RULE = Rule(
    code="RLX602",
    name="planning-waste",
    family="budget",
    summary="storages that together take far more memory than the tensors need at one time",
    since="0.1.0",
    source=__file__,
    severity=NOTES,
    # Unplanned and bounded modules waste by design; whoever tunes a plan selects it.
    default=False,
    check=check,
    symptoms=NOTHING_TO_SEE,
)
