"""RLX305 assumed-type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor that a packed function returns: a match_cast makes its claimed type true."""
    for decided in facts.types.claimed():
        call = decided.event
        name = call.place.binding
        message = Message(
            f"the type of `{name}` is what the call of `{call.callee}` claims, and nothing checks it",
            label="claimed type",
            help=(f"check it with `R.match_cast({name}, ...)`",),
        )
        if decided.decision.verdict is Verdict.ALWAYS_FINE:
            message = Message(f"the type of `{name}` is checked")
        yield Judgement.of(decided, call.place, message)


RULE = Rule(
    code="RLX305",
    name="assumed-type",
    family="kernels",
    summary="the type of a packed call that is believed and never checked",
    since="0.1.0",
    source=__file__,
    check=check,
    # Nothing is wrong with most packed calls, and every one of them has a type that is believed.
    default=False,
    symptoms=NOTHING_TO_SEE,
)
