"""RLX602 planning-waste."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.rule import Judgement, Kind, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every function that has storages: together they take little more than the tensors need."""
    decided = facts.budgets.planned()
    if decided is None:
        return
    memory = decided.event
    takes, least = facts.budgets.text(memory.planned), facts.budgets.text(memory.lower_bound)
    message = Message(
        f"the storages of `{facts.function.name}` take {takes}, its tensors need {least} at any one time",
        label=f"largest storage: {facts.bytes(memory.largest.size)}",
        help=("let tensors whose live ranges do not overlap share a storage",),
    )
    yield Judgement.of(decided, memory.largest.place, message)


RULE = Rule(
    code="RLX602",
    name="planning-waste",
    family="budget",
    summary="storages that together take far more memory than the tensors need at any one time",
    since="0.1.0",
    source=__file__,
    check=check,
    kind=Kind.NOTE,
    # Unplanned and bounded modules waste memory by design; select this rule to tune a plan.
    default=False,
    symptoms=NOTHING_TO_SEE,
)
