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
    """Every tensor that a packed function returns: a match_cast checks its declared type."""
    for decided in facts.types.claimed():
        call = decided.event
        name = call.place.binding
        message = Message(
            f"the type of `{name}` is declared by the call of `{call.callee}`, never checked",
            label="declared type",
            help=(f"check it with `R.match_cast({name}, ...)`",),
        )
        if decided.decision.verdict is Verdict.ALWAYS_FINE:
            message = Message(f"the type of `{name}` is checked")
        yield Judgement.of(decided, call.place, message)


RULE = Rule(
    code="RLX305",
    name="assumed-type",
    family="kernels",
    summary="a type that is declared by a packed call and never checked",
    since="0.1.0",
    source=__file__,
    check=check,
    # Most packed calls are correct, and every one of them declares a type.
    default=False,
    symptoms=NOTHING_TO_SEE,
)
