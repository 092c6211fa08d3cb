"""An IRModule as a target of fixes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from relax_lint.fixes.changes import (
    Applicability,
    Change,
    InsertAssert,
    MoveKill,
    Remedy,
    Remove,
    ResizeStorage,
)
from relax_lint.fixes.module.changed import FunctionChange, Inapplicable, apply_changes, require_applicable
from relax_lint.fixes.module.rewriting import address, called_functions
from relax_lint.judging.module import ModuleJudge, PlannedJudgement
from relax_lint.model.operations import Assert
from relax_lint.model.program import Function
from relax_lint.repair.trials import Subject, Trial
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from relax_lint.support.lazy_dataclass import dataclass
from relax_lint.vm import versions

Wanted: TypeAlias = Callable[[Remedy], bool]


@dataclass(frozen=True)
class Offer:
    """A fix for a finding in a function."""

    function: Function
    found: PlannedJudgement
    remedy: Remedy

    @property
    def trial(self) -> Trial:
        """What is remembered of it when it was tried."""
        remedy, subject = self.remedy, _subject(self.function, self.found)
        # Effects have no name of their own: the message tells whose they are.
        key = (*subject, self.found.judgement.message.text, remedy.title)
        return Trial(subject, key, remedy.turn, remedy.applicability is Applicability.SAFE)


class JudgedModule:
    """A module, and the findings in it. What `before` has of the same functions is
    taken from it."""

    def __init__(self, module: Any, config: Config, before: JudgedModule | None = None) -> None:
        self.module = module
        known = {} if before is None else before._found_in_functions_of(module)
        self._found: dict[int, list[tuple[Function, PlannedJudgement]]] = {
            address(node): known[address(node)]
            for _, node in versions.relax_functions(module)
            if address(node) in known
        }
        judge = ModuleJudge(module, config, without=frozenset(self._found))
        self._functions = judge.program.functions
        for judged in judge.functions():
            function = judged.facts.function
            self._found[address(function.node)] = [
                (function, found)
                for found in judged.judgements
                if found.judgement.decision.verdict is not Verdict.ALWAYS_FINE
            ]

    def _found_in_functions_of(self, module: Any) -> Mapping[int, list[tuple[Function, PlannedJudgement]]]:
        """The findings by the address of the function; none where a function may concern another one."""
        names = {name for name, _ in versions.relax_functions(module)}
        return {} if names & called_functions(module) else self._found

    @property
    def _all(self) -> Iterator[tuple[Function, PlannedJudgement]]:
        for function in self._functions:
            yield from self._found.get(address(function.node), ())

    @property
    def tally(self) -> Counter[Subject]:
        """How many findings there are of each kind."""
        return Counter(_subject(function, found) for function, found in self._all)

    @property
    def checks(self) -> list[tuple[Function, Assert]]:
        """The run-time checks of its functions."""
        return [(function, op) for function in self._functions for op in function.body.of(Assert)]

    def offers(self, wanted: Wanted, refused: Container[Hashable]) -> list[Offer]:
        """Of each finding the first `wanted` fix that can be made and was not refused."""
        found = []
        for function, judgement in self._all:
            offers = (
                Offer(function, judgement, remedy) for remedy in judgement.plan.remedies if wanted(remedy)
            )
            usable = (o for o in offers if o.trial.key not in refused and _is_applicable(function, o.remedy))
            found += list(usable)[:1]
        return found


class FixedModule:
    """A module on the way: what is known of it, and how many findings were fixed."""

    def __init__(self, module: Any, config: Config, wanted: Wanted) -> None:
        self.judged = JudgedModule(module, config)
        self.fixed = 0
        self._wanted = wanted
        self._own = {address(check.place.node) for _, check in self.judged.checks}
        self._needed = 0

    def offers(self, refused: Container[Hashable]) -> Sequence[Offer]:
        """The fix to try next for each finding."""
        return self.judged.offers(self._wanted, refused)

    def compatible(self, offers: Sequence[Offer]) -> Sequence[Offer]:
        """Those that are not about what another one changes in another way, first come first."""
        return _compatible(offers)

    def draft(self, offers: Sequence[Offer]) -> Any:
        """The module with the changes of the fixes: as it is where the IR has no form of them together."""
        try:
            return apply_changes(self.judged.module, _changes_of(offers))
        except Inapplicable:
            return self.judged.module

    def adopt(self, judged: JudgedModule, offers: Sequence[Offer]) -> None:
        """Take over a module that was judged."""
        self.judged = judged

    def without_check(self) -> Any | None:
        """The module without the next inserted check; None where all are needed."""
        inserted = [at for at in self.judged.checks if address(at[1].place.node) not in self._own]
        for function, check in inserted[self._needed :]:
            try:
                return apply_changes(self.judged.module, [(function, Remove(check))])
            except Inapplicable:
                self._needed += 1
        return None

    def keep_check(self) -> None:
        """The check that was left out last is needed."""
        self._needed += 1


def _changes_of(accepted: Sequence[Offer]) -> list[FunctionChange]:
    """What several fixes change, each change once."""
    changes = {
        (offer.function.name, change): (offer.function, change)
        for offer in accepted
        for change in offer.remedy.changes
    }
    return list(changes.values())


def _subject(function: Function, found: PlannedJudgement) -> Subject:
    place = found.judgement.place
    return found.rule.code, None, function.name, None if place is None else place.binding


def _compatible(offered: Sequence[Offer]) -> list[Offer]:
    """Those that are not about what another one changes in another way, first come first."""
    taken: dict[object, Change] = {}
    found = []
    for offer in offered:
        touched: dict[object, Change] = {
            (offer.function.name, _touched(change)): change
            for change in offer.remedy.changes
            if not isinstance(change, InsertAssert)
        }
        if all(taken.get(what, change) == change for what, change in touched.items()):
            taken.update(touched)
            found.append(offer)
    return found


def _is_applicable(function: Function, remedy: Remedy) -> bool:
    try:
        for change in remedy.changes:
            require_applicable(function, change)
    except Inapplicable:
        return False
    return True


def _touched(change: Change) -> object:
    """What a change rewrites: the index of a binding, or an attribute. Assertions rewrite nothing."""
    if isinstance(change, ResizeStorage):
        return change.storage.place.index
    if isinstance(change, Remove):
        return change.op.place.index
    if isinstance(change, MoveKill):
        return change.kill.place.index
    return None if isinstance(change, InsertAssert) else change.kind
