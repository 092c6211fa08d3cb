"""RLX504 redundant-assert."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import NOTES, Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every `R.assert_op`: something can make it fail."""
    for question in facts.runtime_checks:
        if not question.written:
            continue
        decision = facts.judge(question.enforced)
        if decision.verdict is Verdict.ALWAYS_FINE and decision.reachable:
            yield Judgement(
                question.op.place,
                facts.certain(Verdict.ALWAYS_WRONG, decision.proof.detail or "true for every input"),
                f"the assertion `{question.text}` always holds",
                label="never fails",
                remedies=facts.remedies.drop(question.op),
            )
        else:
            needed = facts.certain(Verdict.ALWAYS_FINE, "not proved from what is enforced before it")
            yield Judgement(question.op.place, needed, f"the assertion `{question.text}` is needed")


RULE = Rule(
    code="RLX504",
    name="redundant-assert",
    family="declarations",
    summary="an assertion that is true for every input and can be dropped",
    since="0.1.0",
    source=__file__,
    # It costs a little time and does no harm.
    severity=NOTES,
    check=check,
    symptoms=NOTHING_TO_SEE,
)
