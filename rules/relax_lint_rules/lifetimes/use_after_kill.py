"""RLX201 use-after-kill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every use of a value whose register a kill has cleared, and every kill of what has no register."""
    for kill in facts.lifetimes.kills.of_constants:
        yield Judgement(
            kill.place,
            facts.lifetimes.on_path(kill, certain=True, why=""),
            "a constant is killed, which is in no register: TVM does not build the module",
            label="the constant is killed here",
            remedies=facts.remedies.kill_of_constant(kill),
        )
    for use in facts.lifetimes.kills.uses:
        name, killed = facts.name_of(use.value), facts.name_of(use.kill.target)
        alias = "" if name == killed else f" as `{killed}`, which is the same register"
        action = "returned" if use.op is None else "used"
        decision = facts.lifetimes.on_path(use.op, certain=use.certain, why=use.why)
        yield Judgement(
            # What is returned stands at no operation.
            (use.op or use.kill).place,
            decision,
            f"`{name}` is {action} after it was killed{alias}",
            label="killed here" if use.op is None else f"`{name}` is used here",
            related=() if use.op is None else ((f"`{killed}` is killed here", use.kill.place),),
            remedies=facts.remedies.early_kill(use.kill, facts.lifetimes.kills),
        )


RULE = Rule(
    code="RLX201",
    name="use-after-kill",
    family="lifetimes",
    summary="a tensor, storage or object that is used after it was killed",
    since="0.1.0",
    source=__file__,
    check=check,
)
