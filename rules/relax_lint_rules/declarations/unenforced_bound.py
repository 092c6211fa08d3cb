"""RLX501 unenforced-bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import CheckAtEntry
from relax_lint.results.confirmation import Symptom
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.bounds import ReliedBound
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every declared bound that a verdict relies on: it is never checked at run time."""
    for decided in facts.bounds.unenforced():
        message = _message(decided.event)
        remedy = CheckAtEntry()
        yield Judgement.of(decided, None, message, location=facts.function.attributes, remedy=remedy)


def _message(relied: ReliedBound) -> Message:
    bound, relying = relied.bound, relied.relying
    declared = f"{bound.name} {bound.relation} {bound.value}"
    text = f"TVM plans for `{declared}` but never checks it"
    if relied.overrun is not None:
        at, storage = relied.overrun
        values = ", ".join(f"{name} = {value}" for name, value in at.items())
        text += f"; `{values}` overruns `{storage.place.binding}`"
    count = f"{len(relying)} operations are" if len(relying) > 1 else "1 operation is"
    return Message(
        text,
        label=f"declares `{declared}`, never checked",
        notes=(f"{count} safe only under the declared `{bound.kind.value}`",),
        related=(("the first operation that relies on it", relying[0].place),),
    )


RULE = Rule(
    code="RLX501",
    name="unenforced-bound",
    family="declarations",
    summary="a declared bound that memory planning relies on and nothing checks at run time",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
    # A verdict that becomes safe may rely on a bound.
    is_side_effect=True,
    is_about_plan=True,
    symptoms=frozenset({Symptom.ACCEPTED}),
)
