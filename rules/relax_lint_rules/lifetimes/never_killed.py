"""RLX207 never-killed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.rule import Judgement, Kind, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation of a function that kills: it is killed too, or returned."""
    for decided in facts.never_killed():
        place = decided.event.allocation.place
        ending = "is never killed" if decided.event.is_certain else "is killed only on some paths"
        if decided.event.outlives:
            ending = f"is never killed, and {decided.event.outlives}"
        message = Message(
            f"`{place.binding}` {ending}: it lives until the function returns",
            label="lives until the return",
            help=("kill it after its last use",),
        )
        yield Judgement.of(decided, place, message)


RULE = Rule(
    code="RLX207",
    name="never-killed",
    family="lifetimes",
    summary="an allocation that is never killed in a function that kills the others",
    since="0.1.0",
    source=__file__,
    check=check,
    kind=Kind.NOTE,
    # TVM itself kills nothing after an `If`, and its build adds most of the missing kills.
    default=False,
    symptoms=NOTHING_TO_SEE,
)
