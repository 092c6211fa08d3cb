"""RLX207 never-killed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.rule import NOTES, Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation of a function that kills: it is killed as well, or returned."""
    for allocation, certain in facts.lifetimes.never_killed:
        name = allocation.place.binding
        ending = "is never killed" if certain else "is killed on some paths only"
        yield Judgement(
            allocation.place,
            facts.lifetimes.on_path(allocation, certain=certain, why="killed on some paths only"),
            f"`{name}` {ending}: it lives until the function returns",
            label="lives to the end",
            help=("kill it after its last use",),
        )


RULE = Rule(
    code="RLX207",
    name="never-killed",
    family="lifetimes",
    summary="an allocation that lives to the end of a function that kills the others",
    since="0.1.0",
    source=__file__,
    severity=NOTES,
    check=check,
    # TVM itself kills nothing behind an `If`, and its builds add most of the kills that are missing.
    default=False,
    symptoms=NOTHING_TO_SEE,
)
