"""RLX201 use-after-kill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import DelayKill, Drop
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.analysis.kills import KilledUse
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every use of a value after a kill cleared its register, and every kill of a constant."""
    for constant in facts.killed_constants():
        kill = constant.event
        message = Message(
            "a constant has no register to kill: TVM refuses to build the module",
            label="the constant is killed here",
        )
        yield Judgement.of(constant, kill.place, message, remedy=Drop(kill, "the kill"))
    for null in facts.killed_nulls():
        kill = null.event
        message = Message("a null value is killed", label="killed here")
        yield Judgement.of(null, kill.place, message)
    for decided in facts.uses_after_kill():
        use = decided.event
        # A return has no operation of its own.
        place = (use.op or use.kill).place
        yield Judgement.of(decided, place, _message(facts, use), remedy=DelayKill(use.kill))


def _message(facts: FunctionFacts, use: KilledUse) -> Message:
    name, killed = facts.name_of(use.value), facts.name_of(use.kill.target)
    alias = "" if name == killed else f" as `{killed}`, which aliases it"
    action = "returned" if use.op is None else "used"
    return Message(
        f"`{name}` is {action} after it was killed{alias}",
        label="killed here" if use.op is None else f"`{name}` is used here",
        related=() if use.op is None else ((f"`{killed}` is killed here", use.kill.place),),
    )


RULE = Rule(
    code="RLX201",
    name="use-after-kill",
    family="lifetimes",
    summary="a tensor, storage or object that is used after it was killed",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.ALWAYS,
)
