"""Which of the fixes on offer are made together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Set
from typing import Any, TypeAlias

from relax_lint.config import Config
from relax_lint.fixes.changes import (
    Applicability,
    Change,
    InsertAssert,
    MoveKill,
    Remedy,
    Remove,
    ResizeStorage,
    Turn,
)
from relax_lint.fixes.module import FunctionChange, Inapplicable, require_applicable
from relax_lint.judging import Judged, ModuleJudge
from relax_lint.model.program import Function
from relax_lint.verdict import Verdict

Wanted: TypeAlias = Callable[[Remedy], bool]
Subject: TypeAlias = tuple[str, str, "str | None"]
"""What a finding is about: function, rule and binding, all of which outlive changes elsewhere."""
Attempt: TypeAlias = tuple[Subject, str]
"""A fix of a finding, by its title."""


class Choice:
    """The findings of a module, and changes that can be made together: those of the first `wanted` fix of
    each finding whose turn it is, leaving out the `earlier` attempts.
    """

    def __init__(self, module: Any, config: Config, wanted: Wanted, earlier: Set[Attempt]) -> None:
        self._wanted = wanted
        self._earlier = earlier
        self._findings: Counter[Subject] = Counter()
        self._chosen: dict[Attempt, tuple[Function, Remedy]] = {}
        self._taken: dict[object, Change] = {}
        for judged in ModuleJudge(module, config).functions():
            for found in judged.judged:
                if found.judgement.decision.verdict is not Verdict.ALWAYS_FINE:
                    self._choose(judged.facts.function, found)
        turn = min((remedy.turn for _, remedy in self._chosen.values()), default=Turn.CHANGE)
        self._made = {key: fix for key, fix in self._chosen.items() if fix[1].turn is turn}

    @property
    def attempts(self) -> Set[Attempt]:
        """The fixes that are chosen."""
        return self._made.keys()

    @property
    def changes(self) -> list[FunctionChange]:
        """What they change, each change once."""
        changes = {
            (function.name, change): (function, change)
            for function, remedy in self._made.values()
            for change in remedy.changes
        }
        return list(changes.values())

    def is_good(self, after: Choice) -> bool:
        """Whether the changes helped, and brought up nothing that was not there. What an unsafe fix brings to
        light is no harm.
        """
        safe = all(remedy.applicability is Applicability.SAFE for _, remedy in self._made.values())
        harm = safe and bool(after._findings - self._findings)
        return bool(self._findings - after._findings) and not harm

    def _choose(self, function: Function, found: Judged) -> None:
        place = found.judgement.place
        subject = (function.name, found.rule.code, None if place is None else place.binding)
        self._findings[subject] += 1
        for remedy in filter(self._wanted, found.remedies):
            attempt = (subject, remedy.title)
            if attempt in self._earlier or not _is_applicable(function, remedy):
                continue
            if self._is_free(function, remedy):
                self._chosen[attempt] = (function, remedy)
                self._take(function, remedy)
            return

    def _is_free(self, function: Function, remedy: Remedy) -> bool:
        """Whether no other fix is about the same binding or attribute."""
        return all(
            self._taken.get((function.name, _subject(change)), change) == change for change in remedy.changes
        )

    def _take(self, function: Function, remedy: Remedy) -> None:
        for change in remedy.changes:
            if not isinstance(change, InsertAssert):
                self._taken[function.name, _subject(change)] = change


def _is_applicable(function: Function, remedy: Remedy) -> bool:
    try:
        for change in remedy.changes:
            require_applicable(function, change)
    except Inapplicable:
        return False
    return True


def _subject(change: Change) -> object:
    """What a change rewrites: the index of a binding, or an attribute. Assertions rewrite nothing."""
    if isinstance(change, ResizeStorage):
        return change.storage.place.index
    if isinstance(change, Remove):
        return change.op.place.index
    if isinstance(change, MoveKill):
        return change.kill.place.index
    return None if isinstance(change, InsertAssert) else change.kind
