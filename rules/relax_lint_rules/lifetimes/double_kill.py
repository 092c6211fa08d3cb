"""RLX202 double-kill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every kill of a register that was cleared before."""
    for again in facts.lifetimes.kills.again:
        name, killed = facts.name_of(again.value), facts.name_of(again.kill.target)
        alias = "" if name == killed else f", the first time as `{killed}`"
        yield Judgement(
            (again.op or again.kill).place,
            facts.lifetimes.on_path(again.op, certain=again.certain, why="killed before on some paths only"),
            f"`{name}` is killed twice{alias}",
            label="killed again here",
            related=((f"`{killed}` is killed here", again.kill.place),),
            remedies=facts.remedies.second_kill(again),
        )


RULE = Rule(
    code="RLX202",
    name="double-kill",
    family="lifetimes",
    summary="a value that is killed twice on one path",
    since="0.1.0",
    source=__file__,
    severity={
        # The second kill has no effect.
        Verdict.ALWAYS_WRONG: Severity.WARNING,
        Verdict.ALWAYS_FINE: Severity.NONE,
        Verdict.NEEDS_RUNTIME_CHECK: Severity.NOTE,
    },
    check=check,
    symptoms=NOTHING_TO_SEE,
)
