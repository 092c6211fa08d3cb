"""Fixes made in rounds: after each everything is judged again, and what did not help is taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar

from relax_lint.repair.trials import MAX_ROUNDS, Offered, Subject, Trials

Offer = TypeVar("Offer", bound=Offered)
Draft = TypeVar("Draft", covariant=True)
Judged = TypeVar("Judged", bound="HasTally")


class HasTally(Protocol):
    """Something that was judged."""

    @property
    def tally(self) -> Counter[Subject]:
        """How many findings there are of each kind."""
        ...


class Target(Protocol[Offer, Draft, Judged]):
    """What is fixed, a text or a module. It stands as it was judged last (`judged`); a draft is what may
    take its place and has not been judged.
    """

    judged: Judged
    fixed: int

    def __hash__(self) -> int: ...

    def offers(self, refused: Container[Hashable]) -> Sequence[Offer]:
        """The fix to try next for each finding; those with a key in `refused` were tried in vain."""
        ...

    def compatible(self, offers: Sequence[Offer]) -> Sequence[Offer]:
        """Those that can be made together, first come first."""
        ...

    def draft(self, offers: Sequence[Offer]) -> Draft:
        """What these fixes make of it."""
        ...

    def adopt(self, judged: Judged, offers: Sequence[Offer]) -> None:
        """Stand as a draft was judged, in which these fixes were made."""
        ...

    def without_check(self) -> Draft | None:
        """What it is without one inserted check that may be needless; None where no such check is left."""
        ...

    def keep_check(self) -> None:
        """The check that was left out last is needed."""
        ...


Judge: TypeAlias = Callable[
    [Mapping[Target[Offer, Draft, Judged], Draft]], Mapping[Target[Offer, Draft, Judged], Judged]
]
"""Judges drafts."""


def repair(targets: Iterable[Target[Offer, Draft, Judged]], judge: Judge[Offer, Draft, Judged]) -> None:
    """Make fixes until none is left to try. A fix stays only if a finding went away and, for a safe one, none
    came. Checks that a later fix made needless are taken out again; what the checks that stay make
    needless goes last. What was tried in vain is tried again once something else was made.
    """
    trials = {target: Trials() for target in targets}
    _make(trials, judge)
    _take_out_spare_checks(trials, judge)
    for tried in trials.values():
        tried.checks_are_final = True
    _make(trials, judge)


def _make(trials: Mapping[Target[Offer, Draft, Judged], Trials], judge: Judge[Offer, Draft, Judged]) -> None:
    for _ in range(MAX_ROUNDS):
        accepted = {target: _next(target, tried) for target, tried in trials.items()}
        drafts = {target: target.draft(offers) for target, offers in accepted.items() if offers}
        if not drafts:
            break
        for target, judged in judge(drafts).items():
            gone = trials[target].settle(accepted[target], target.judged.tally, judged.tally)
            if gone:
                target.adopt(judged, accepted[target])
                target.fixed += gone


def _take_out_spare_checks(
    trials: Mapping[Target[Offer, Draft, Judged], Trials], judge: Judge[Offer, Draft, Judged]
) -> None:
    spared = [target for target, tried in trials.items() if tried.may_have_spare_checks]
    while shorter := {target: draft for target in spared if (draft := target.without_check()) is not None}:
        for target, judged in judge(shorter).items():
            if judged.tally - target.judged.tally:
                target.keep_check()
            else:
                target.adopt(judged, ())


def _next(target: Target[Offer, Draft, Judged], tried: Trials) -> Sequence[Offer]:
    offers = tried.whose_turn_it_is(target.offers(tried.refused))
    if not offers and tried.try_again():
        return _next(target, tried)
    return tried.limited(target.compatible(offers))
