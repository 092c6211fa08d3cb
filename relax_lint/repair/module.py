"""Making findings of an IRModule go away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import tvm

from relax_lint.fixes.changes import Applicability, Remedy, Remove, Turn
from relax_lint.fixes.module.changed import apply_changes
from relax_lint.fixes.module.rewriting import address
from relax_lint.repair.choice import JudgedModule, Wanted, changes_of
from relax_lint.repair.trials import MAX_ROUNDS, Trials
from relax_lint.settings.config import Config, Settings, as_config


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
        module,
        settings,
        lambda remedy: _may_be_made(remedy, unsafe=unsafe) and remedy.turn is not Turn.CHANGE,
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


def _fixed(module: Any, config: Config, wanted: Wanted) -> Any:
    if not isinstance(module, tvm.IRModule):
        raise TypeError(f"not an IRModule: `{type(module).__name__}`")
    trials = Trials()
    judged = first = JudgedModule(module, config)
    for _ in range(MAX_ROUNDS):
        accepted = judged.propose(wanted, trials)
        if not accepted:
            break
        after = JudgedModule(apply_changes(judged.module, changes_of(accepted)), config)
        if trials.settle(accepted, judged.tally, after.tally):
            judged = after
    return (_without_spare_checks(judged, first, config) if trials.may_have_spare_checks else judged).module


def _without_spare_checks(judged: JudgedModule, first: JudgedModule, config: Config) -> JudgedModule:
    """Leaves out, one by one, checks that were inserted since the `first` judgement and without which no
    finding comes back.
    """
    own = {address(check.place.node) for _, check in first.checks}
    needed = 0
    while inserted := [at for at in judged.checks if address(at[1].place.node) not in own][needed:]:
        function, check = inserted[0]
        shorter = JudgedModule(apply_changes(judged.module, [(function, Remove(check))]), config)
        if shorter.tally - judged.tally:
            needed += 1
        else:
            judged = shorter
    return judged
