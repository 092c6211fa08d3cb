"""Making findings of an IRModule go away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import tvm

from relax_lint.api import Settings, as_config
from relax_lint.config import Config
from relax_lint.fixes.changes import (
    Applicability,
    Change,
    InsertAssert,
    MoveKill,
    Remedy,
    Remove,
    ResizeStorage,
)
from relax_lint.fixes.module import FunctionChange, Inapplicable, apply_changes, require_applicable
from relax_lint.judging import Judged, ModuleJudge
from relax_lint.model.program import Function
from relax_lint.verdict import Verdict

MAX_ROUNDS = 10
"""How often a module is judged again after changes: what is left then is left for a person."""

Wanted: TypeAlias = Callable[[Remedy], bool]
_Attempt: TypeAlias = tuple[str, str, str | None, str]


def fix(module: tvm.IRModule, config: Settings = None, unsafe: bool = False) -> tvm.IRModule:
    """A new IRModule in which the findings that have a fix are gone.

    For each finding the first fix that may be made is made: a run-time check, a larger storage and so on.
    Unless `unsafe`, only fixes are made that leave every run alone that was right. The module is judged again
    until nothing changes. Findings without such a fix remain, and `relax_lint.check` tells which. What no fix
    is about is not touched; a module without findings is returned as it is.

    `config` is what `relax_lint.check` takes; its `fix-strategy` says which fix comes first. Raises TypeError
    for anything but an IRModule.
    """
    return _fixed(module, as_config(config), lambda remedy: _may_be_made(remedy, unsafe=unsafe))


def insert_memory_checks(module: tvm.IRModule, config: Settings = None, unsafe: bool = False) -> tvm.IRModule:
    """A new IRModule that checks at run time what memory it was built for: `fix`, with `R.assert_op` as the
    only fix. An input that does not fit raises an AssertionError that names the symbols, their values and
    the limit, at the earliest point where they are known.
    """
    settings = replace(as_config(config), fix_strategy="assert")
    return _fixed(
        module, settings, lambda remedy: _may_be_made(remedy, unsafe=unsafe) and _only_checks(remedy)
    )


@tvm.transform.module_pass(opt_level=0, name="InsertMemoryChecks")
class InsertMemoryChecks:
    """`insert_memory_checks` as a TVM pass. Its place is after memory planning and before `ComputePrimValue`,
    which prepares assertions for `VMShapeLower`.
    """

    def __init__(self, config: Settings = None, unsafe: bool = False) -> None:
        self._config = as_config(config)
        self._unsafe = unsafe

    def transform_module(self, module: Any, context: Any) -> Any:
        """The module with its checks."""
        return insert_memory_checks(module, self._config, self._unsafe)


def _may_be_made(remedy: Remedy, *, unsafe: bool) -> bool:
    allowed = (Applicability.SAFE, Applicability.UNSAFE) if unsafe else (Applicability.SAFE,)
    return remedy.applicability in allowed


def _only_checks(remedy: Remedy) -> bool:
    return all(isinstance(change, InsertAssert) for change in remedy.changes)


def _fixed(module: Any, config: Config, wanted: Wanted) -> Any:
    if not isinstance(module, tvm.IRModule):
        raise TypeError(f"not an IRModule: `{type(module).__name__}`")
    attempts: set[_Attempt] = set()
    for _ in range(MAX_ROUNDS):
        changes = _Round(attempts).changes(module, config, wanted)
        if not changes:
            break
        module = apply_changes(module, changes)
    return module


class _Round:
    """Chooses changes that can be made together.

    `attempts` are the fixes that were made in earlier rounds: where one did not help, it is not repeated.
    """

    def __init__(self, attempts: set[_Attempt]) -> None:
        self._attempts = attempts
        self._chosen: dict[_Attempt, tuple[Function, Remedy]] = {}
        self._taken: dict[object, Change] = {}

    def changes(self, module: Any, config: Config, wanted: Wanted) -> list[FunctionChange]:
        """The changes of the first fix of each finding that may be made. Run-time checks wait until nothing else
        is left to do, which may make them needless.
        """
        for judged in ModuleJudge(module, config).functions():
            for found in judged.judged:
                if found.judgement.decision.verdict is not Verdict.ALWAYS_FINE:
                    self._choose(judged.facts.function, found, wanted)
        first = {key: fix for key, fix in self._chosen.items() if not _only_checks(fix[1])}
        made = first or self._chosen
        self._attempts.update(made)
        changes = {
            (function.name, change): (function, change)
            for function, remedy in made.values()
            for change in remedy.changes
        }
        return list(changes.values())

    def _choose(self, function: Function, found: Judged, wanted: Wanted) -> None:
        place = found.judgement.place
        where = None if place is None else place.binding
        for remedy in filter(wanted, found.remedies):
            attempt = (function.name, found.rule.code, where, remedy.title)
            if attempt in self._attempts or not _is_applicable(function, remedy):
                continue
            if self._is_free(function, remedy):
                self._chosen[attempt] = (function, remedy)
                self._take(function, remedy)
            return

    def _is_free(self, function: Function, remedy: Remedy) -> bool:
        """Whether no other change of this round is about the same binding or attribute."""
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
