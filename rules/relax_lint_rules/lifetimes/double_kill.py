"""RLX202 double-kill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import Drop
from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every kill of a register that is already cleared."""
    for decided in facts.double_kills():
        again = decided.event
        name, killed = facts.name_of(again.value), facts.name_of(again.kill.target)
        alias = "" if name == killed else f", first as `{killed}`"
        message = Message(
            f"`{name}` is killed twice{alias}",
            label="second kill here",
            related=((f"`{killed}` is first killed here", again.kill.place),),
        )
        remedy = Drop(again.op, "the second kill") if again.op is not None and again.is_certain else None
        yield Judgement.of(decided, (again.op or again.kill).place, message, remedy=remedy)


RULE = Rule(
    code="RLX202",
    name="double-kill",
    family="lifetimes",
    summary="a value that is killed twice on one path",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
    severity={
        # The second kill has no effect.
        Verdict.ALWAYS_WRONG: Severity.WARNING,
        Verdict.NEEDS_RUNTIME_CHECK: Severity.NOTE,
    },
    symptoms=NOTHING_TO_SEE,
)
