"""RLX503 contradictory-bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """The declared bounds of a function: some input satisfies them."""
    decided = facts.bounds.contradiction()
    if decided is None:
        return
    conditions = " and ".join(f"`{bound.name} {bound.relation} {bound.value}`" for bound in decided.event)
    message = Message(
        f"no input of `{facts.function.name}` satisfies the declared {conditions}",
        label="these bounds contradict each other",
    )
    yield Judgement.of(decided, None, message, location=facts.function.attributes)


RULE = Rule(
    code="RLX503",
    name="contradictory-bounds",
    family="declarations",
    summary="declared bounds that no input satisfies",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=NOTHING_TO_SEE,
)
