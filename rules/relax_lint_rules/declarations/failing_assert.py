"""RLX505 failing-assert."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import Symptom
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every `R.assert_op` and `R.match_cast`: some input passes it."""
    for question in facts.runtime_checks:
        decision = facts.judge(question.claim)
        if not decision.reachable:
            continue
        if decision.verdict is Verdict.ALWAYS_WRONG:
            message = f"no input passes the {question.kind} `{question.text}`"
            yield Judgement(question.op.place, decision, message, label="fails for every input")
        else:
            can_hold = facts.certain(Verdict.ALWAYS_FINE, "not proved to fail for every input")
            yield Judgement(question.op.place, can_hold, f"the {question.kind} `{question.text}` can hold")


RULE = Rule(
    code="RLX505",
    name="failing-assert",
    family="declarations",
    summary="an assertion or a match_cast that no input passes",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=frozenset({Symptom.STOPPED, Symptom.ERROR}),
)
