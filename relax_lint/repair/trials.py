"""What is tried next, and what is learned from it, where fixes are made in rounds: in a text or a module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import Protocol, TypeAlias, TypeVar

from relax_lint.results.check import Turn
from relax_lint.rule import load_rules, unreadable_codes
from relax_lint.support.lazy_dataclass import dataclass

MAX_ROUNDS = 32
"""How often everything is judged anew; what is left then stays as it is."""

Subject: TypeAlias = tuple[str, str | None, str | None, str | None]
"""What a finding is about: rule, module, function and binding, all of which outlive changes elsewhere."""


@dataclass(frozen=True)
class Trial:
    """That a fix is made for a finding.

    `key` is the same for the same fix after other changes; those of a lower `turn` are made first; a `safe`
    one may bring up nothing that was not there.
    """

    subject: Subject
    key: Hashable
    turn: int
    safe: bool


class Offered(Protocol):
    """A fix that may be made."""

    @property
    def trial(self) -> Trial:
        """What is remembered of it when it was tried."""
        ...


AnyOffered = TypeVar("AnyOffered", bound=Offered)


class Trials:
    """Chooses among the fixes on offer, and takes back what did not help or did harm."""

    def __init__(self) -> None:
        self._refused: set[Hashable] = set()
        self._put_off: set[Hashable] = set()
        self._limit: int | None = None
        self._made: list[int] = []
        self._outdated: set[Hashable] = set()
        self.checks_are_final = False
        """Whether all checks that were inserted stay: what they make needless can go."""

    @property
    def may_have_spare_checks(self) -> bool:
        """Whether something was made after a check, which may have made that needless, or checks that others
        cover.
        """
        return any(turn != Turn.CHANGE for turn in self._made[:-1]) or Turn.COVERED in self._made

    @property
    def refused(self) -> Collection[Hashable]:
        """The keys of fixes that were tried in vain."""
        return self._refused

    def try_again(self) -> bool:
        """Whether something is to be tried again: it was tried in vain, and something else was made since."""
        found = bool(self._outdated)
        self._refused -= self._outdated
        self._outdated.clear()
        return found

    def whose_turn_it_is(self, offered: Sequence[AnyOffered]) -> list[AnyOffered]:
        """Those of the lowest turn. What was put off waits until nothing else is left."""
        ready = [one for one in offered if self.checks_are_final or not _tidies_up(one.trial)]
        waiting = [one for one in ready if one.trial.key not in self._put_off] or ready
        turn = min((one.trial.turn for one in waiting), default=0)
        return [one for one in waiting if one.trial.turn == turn]

    def limited(self, accepted: Sequence[AnyOffered]) -> list[AnyOffered]:
        """As many of the fixes that can be made together as are tried at once."""
        return list(accepted[: self._limit])

    def settle(self, accepted: Sequence[Offered], before: Counter[Subject], after: Counter[Subject]) -> int:
        """How many findings the fixes made go away, where what they made is to be kept; 0 where it is not."""
        helped = before - after
        tried = [one.trial for one in accepted]
        if _harms(tried, before, after) or not helped:
            if len(tried) == 1:
                self._refused.add(tried[0].key)
            self._limit = max(len(tried) // 2, 1)
            return 0
        idle = {trial.key for trial in tried if trial.subject not in helped}
        if idle and len(tried) > 1:
            # Tried alone, it is enough for them that any finding goes away: some share an edit.
            self._put_off |= idle
            self._limit = 1 if all(trial.key in self._put_off for trial in tried) else None
            return 0
        self._put_off.clear()
        self._limit = None
        self._outdated |= self._refused
        self._made.append(max(trial.turn for trial in tried))
        return helped.total()


def _tidies_up(trial: Trial) -> bool:
    """Whether a fix removes what an inserted check may have made needless."""
    return trial.turn == Turn.CHANGE and load_rules()[trial.subject[0]].is_side_effect


def _harms(tried: Sequence[Trial], before: Counter[Subject], after: Counter[Subject]) -> bool:
    """Whether something came up that was not there. What an unsafe fix brings to light is no harm, unless
    it can no longer be read.
    """
    rules = load_rules()
    came = [subject[0] for subject in after - before if not rules[subject[0]].is_side_effect]
    if all(trial.safe for trial in tried):
        return bool(came)
    return any(rule in unreadable_codes() for rule in came)
