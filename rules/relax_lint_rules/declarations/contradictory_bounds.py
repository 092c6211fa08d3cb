"""RLX503 contradictory-bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """The declared bounds of a function: some input satisfies them."""
    if facts.is_entered:
        return
    bounds = facts.contradiction
    if not bounds:
        return
    conditions = " and ".join(f"`{bound.name} {bound.relation} {bound.value}`" for bound in bounds)
    yield Judgement(
        place=None,
        location=facts.function.attributes,
        decision=facts.certain(Verdict.ALWAYS_WRONG, "no assignment satisfies the declared bounds"),
        message=f"no input of `{facts.function.name}` satisfies the declared {conditions}",
        label="declared bounds contradict each other",
    )


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
