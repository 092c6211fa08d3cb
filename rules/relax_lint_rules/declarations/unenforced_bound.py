"""RLX501 unenforced-bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import Symptom
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every declared bound that a verdict relied on: nothing checks it at run time."""
    for bound in facts.function.bounds:
        relying = facts.relying_on(bound)
        if not relying:
            continue
        decision = facts.judge(facts.bound_holds(bound))
        count = f"{len(relying)} operations are" if len(relying) > 1 else "1 operation is"
        yield Judgement(
            place=None,
            location=facts.function.attributes,
            decision=decision,
            message=(
                f"nothing checks the declared `{bound.name} {bound.relation} {bound.value}` "
                f"({bound.kind.value}), and {count} safe only because of it"
            ),
            label=f"believes `{bound.name} {bound.relation} {bound.value}`",
            related=(("the first that needs it", relying[0].place),),
            remedies=facts.remedies.enforcement(decision),
        )


RULE = Rule(
    code="RLX501",
    name="unenforced-bound",
    family="declarations",
    summary="a declared bound that memory planning used and nothing checks at run time",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=frozenset({Symptom.ACCEPTED}),
)
