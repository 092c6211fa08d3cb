"""RLX505 failing-assert."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import Symptom
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every `R.assert_op` and `R.match_cast`: some input passes it."""
    for decided in facts.failing_checks():
        question = decided.event
        message = Message(f"some input passes the {question.kind} `{question.text}`")
        if decided.decision.verdict is Verdict.ALWAYS_WRONG:
            text = f"no input passes the {question.kind} `{question.text}`"
            message = Message(text, label="fails for every input")
        elif decided.decision.verdict is Verdict.NEEDS_RUNTIME_CHECK:
            text = f"not every path passes the {question.kind} `{question.text}`"
            message = Message(text, label=f"may be {'a null value' if question.null else 'something else'}")
        yield Judgement.of(decided, question.op.place, message)


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
