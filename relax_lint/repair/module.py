"""Making findings of an IRModule go away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import tvm

from relax_lint.fixes.changes import Applicability, Remedy
from relax_lint.fixes.check_form import CheckForm, form_in_memory
from relax_lint.judging.selection import known_config
from relax_lint.repair.driver import repair
from relax_lint.repair.module_target import FixedModule, JudgedModule, Wanted
from relax_lint.results.check import Turn
from relax_lint.settings.config import Config, Settings


def fix(module: tvm.IRModule, config: Settings = None, unsafe: bool = False) -> tvm.IRModule:
    """A new IRModule in which the findings that have a fix are gone.

    For each finding the first fix that may be made is made: a run-time check, a larger storage and so on.
    Unless `unsafe`, only fixes are made that leave every run alone that was right. The module is judged again
    until nothing changes. Findings without such a fix remain, and `relax_lint.check` tells which. What no fix
    is about is not touched; a module without findings is returned as it is.

    `config` is what `relax_lint.check` takes; its `fix-strategy` says which fix comes first. Raises TypeError
    for anything but an IRModule.
    """
    return _fixed(module, known_config(config), lambda remedy: _may_be_made(remedy, unsafe=unsafe))


def insert_memory_checks(
    module: tvm.IRModule, config: Settings = None, unsafe: bool = False, form: str | None = None
) -> tvm.IRModule:
    """A new IRModule that checks at run time what memory it was built for: `fix`, with checks as the only
    fix. An input that does not fit raises an error that names the symbols, their values and the limit, at the
    earliest point where they are known.

    `form` (`assert-op`, `builtin` or `auto`) says how checks are written, in the place of `check-form` of the
    configuration: `builtin` works at any point before `VMShapeLower`, and where the module runs without
    Python. Raises ValueError for another form.
    """
    settings = _with_form(replace(known_config(config), fix_strategy="assert"), form)
    return _fixed(
        module,
        settings,
        lambda remedy: _may_be_made(remedy, unsafe=unsafe) and remedy.turn is not Turn.CHANGE,
    )


@tvm.transform.module_pass(opt_level=0, name="InsertMemoryChecks")
class InsertMemoryChecks:
    """`insert_memory_checks` as a TVM pass. Its place is after memory planning and before `VMShapeLower`."""

    def __init__(self, config: Settings = None, unsafe: bool = False, form: str | None = None) -> None:
        self._config = _with_form(known_config(config), form)
        self._unsafe = unsafe

    def transform_module(self, module: Any, context: Any) -> Any:
        """The module with its checks."""
        return insert_memory_checks(module, self._config, self._unsafe)


def _with_form(config: Config, form: str | None) -> Config:
    if form is None:
        return config
    if form != "auto":
        CheckForm(form)
    return replace(config, check_form=form)


def _may_be_made(remedy: Remedy, *, unsafe: bool) -> bool:
    allowed = (Applicability.SAFE, Applicability.UNSAFE) if unsafe else (Applicability.SAFE,)
    return remedy.applicability in allowed


def _fixed(module: Any, config: Config, wanted: Wanted) -> Any:
    if not isinstance(module, tvm.IRModule):
        raise TypeError(f"not an IRModule: `{type(module).__name__}`")
    config = replace(config, check_form=form_in_memory(config.check_form, module).value)
    target = FixedModule(module, config, wanted)
    repair(
        [target],
        lambda drafts: {one: JudgedModule(draft, config, target.judged) for one, draft in drafts.items()},
    )
    return target.judged.module
