"""Of what is decided several times the worst is told: one read of a part may be good, and the next not."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from relax_lint.facts.judge import Decided
from relax_lint.results.verdict import Verdict

Event = TypeVar("Event")


def worst_of(
    found: Iterable[Decided[Event]], about: Callable[[Event], Hashable]
) -> tuple[Decided[Event], ...]:
    """Of all that is decided `about` one thing what says worst, and of those the first, in the order in which
    these things are met.
    """
    worst: dict[Hashable, Decided[Event]] = {}
    for one in found:
        key = about(one.event)
        known = worst.get(key)
        if known is None or _badness(one) > _badness(known):
            worst[key] = one
    return tuple(worst.values())


def _badness(decided: Decided[Event]) -> int:
    decision = decided.decision
    if not decision.reachable:
        return 0
    if decision.verdict is Verdict.ALWAYS_FINE:
        return 2 if decided.presumptions or decision.assumptions else 1
    return 5 if decision.verdict is Verdict.ALWAYS_WRONG else 4 if decided.only_empty else 3
