"""RLX504 redundant-assert."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import Drop
from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import FixAvailability, Judgement, Kind, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every `R.assert_op`: something can make it fail."""
    for decided in facts.redundant_checks():
        question = decided.event
        message = Message(f"the assertion `{question.text}` is needed")
        if decided.decision.verdict is Verdict.ALWAYS_WRONG:
            message = Message(f"the assertion `{question.text}` always holds", label="never fails")
        remedy = Drop(question.op, "the assertion")
        yield Judgement.of(decided, question.op.place, message, remedy=remedy)


RULE = Rule(
    code="RLX504",
    name="redundant-assert",
    family="declarations",
    summary="an assertion that holds for every input and can be removed",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.ALWAYS,
    # It costs a little time and does no harm.
    kind=Kind.NOTE,
    symptoms=NOTHING_TO_SEE,
    is_side_effect=True,
)
