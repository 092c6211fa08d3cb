"""What `import relax_lint` offers: results for paths and for modules in memory. Imports neither TVM nor sympy
before it is handed a module.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relax_lint.judging.selection import known_config, require_known_scopes
from relax_lint.judging.unplanned import unplanned_note
from relax_lint.results.memory_report import MemoryReport
from relax_lint.results.report import FileResult, InputStatus, Report
from relax_lint.results.verdict import Severity
from relax_lint.rule import unreadable_codes
from relax_lint.settings.config import Config, Settings
from relax_lint.suppressions.policy import apply_policy, idle_assumptions

if TYPE_CHECKING:
    from concurrent.futures import Executor

IN_MEMORY = "<module>"
"""The path of results for a module that was handed over in memory."""


def check(target: Any, config: Settings = None, *, executor: Executor | None = None) -> Report:
    """Judge every memory operation of `target`: a path (a file or a folder), a sequence of paths, an IRModule
    or a Relax function.

    Paths are read by worker processes, and what cannot be read or analysed there is a finding (RLX901 to
    RLX904). A module is judged in this process, without positions; what goes wrong is an exception. Without
    `config` no pyproject.toml is looked for. With `executor` the files below the paths are its tasks in
    chunks, say of `distributed.Client.get_executor()`.

    Raises TypeError for any other target, `relax_lint.settings.config.ConfigError` for settings that
    cannot be used, `relax_lint.support.errors.RunError` when TVM cannot be loaded and
    `relax_lint.sources.lowering.LoweringError` when it cannot lower a module in memory as `lower` asks.
    """
    settings = known_config(config)
    paths = _paths(target)
    if paths is not None:
        from relax_lint.running.runner import run

        return run(paths, settings, executor=executor)
    return _module_report(target, settings)


def memory(
    target: Any, bindings: Mapping[str, int | tuple[int, int] | range] | None = None, config: Settings = None
) -> MemoryReport:
    """The memory totals, in bytes, of every function of `target`, which is what `check` takes. A module that
    allocates nothing explicitly goes through TVM's pipeline up to memory planning first, where it can.

    A total is a formula in the symbols of its function (`expr`) and, where no symbol remains or `bindings`
    gives each of them a value, an exact number (`value`). A binding may be a range, `(1, 2048)` with both
    ends or `range(1, 2049)`: then `over_range` has the maximum and where it is. `memory(module)["main"]` is
    a function by its name.

    Raises ValueError for a symbol that no function has or a value that is not a size, and for a path in which
    something cannot be read or analysed; else what `check` raises.
    """
    from relax_lint.settings.memory_request import MemoryRequest, read_bindings, require_known

    bound = read_bindings(f"{name}={_values(value)}" for name, value in (bindings or {}).items())
    given = known_config(config)
    request = MemoryRequest(bound, lowers=not given.lower, details=True)
    settings = replace(given, select=unreadable_codes(), memory=request, lower=True)
    report = check(target, settings)
    for finding in report.checks:
        raise ValueError(f"{finding.path}: {finding.message}")
    require_known(bound, report.memory)
    return report.memory


def _values(value: int | tuple[int, int] | range) -> str:
    """A binding as the command writes it."""
    if isinstance(value, range):
        if value.step != 1 or not value:
            raise ValueError(f"a range of values has the step 1 and is not empty, not {value!r}")
        return f"{value[0]}..{value[-1]}"
    if isinstance(value, tuple):
        low, high = value
        return f"{low}..{high}"
    return str(value)


def assert_memory_safe(target: Any, config: Settings = None, level: str = "warning") -> None:
    """Raise AssertionError if `target`, which is what `check` takes, has a finding of the severity `level`
    (error, warning or note) or above, or if there is nothing in it to check; the text of the error is the
    findings, or the reason. Otherwise raises what `check` raises.
    """
    least = as_severity(level)
    report = check(target, config)
    if not report.checks:
        raise AssertionError(_nothing_checked(report))
    if any(finding.severity.rank >= least.rank for finding in report.findings):
        raise AssertionError(findings_text(report, least))


def _nothing_checked(report: Report) -> str:
    functions = sum(file.input.functions for file in report.files)
    found = f"{functions} Relax function{'' if functions == 1 else 's'}"
    reasons = [note for file in report.files for note in file.input.notes]
    return "; ".join([f"nothing was checked in {found}", *reasons])


def findings_text(report: Report, least: Severity = Severity.NOTE) -> str:
    """The findings of severity `least` or above as text for people: how many, then each of them."""
    from relax_lint.output.text import render_findings

    files = tuple(
        replace(file, checks=tuple(check for check in file.checks if check.severity.rank >= least.rank))
        for file in report.files
    )
    chosen = replace(report, files=files)
    number = len(chosen.findings)
    head = f"{number} memory-safety finding{'' if number == 1 else 's'}"
    return f"{head}\n\n{render_findings(chosen)}"


def as_severity(level: str) -> Severity:
    """The severity that a word stands for. Raises ValueError for anything but error, warning and note."""
    if level not in ("error", "warning", "note"):
        raise ValueError(f"a severity is 'error', 'warning' or 'note', not {level!r}")
    return Severity(level)


def _paths(target: Any) -> list[str] | None:
    """The paths that `target` stands for; None if it is something else."""
    if isinstance(target, (str, os.PathLike)):
        return [os.fspath(target)]
    if isinstance(target, (list, tuple)):
        if not all(isinstance(path, (str, os.PathLike)) for path in target):
            raise TypeError("a sequence of targets must hold paths only")
        return [os.fspath(path) for path in target]
    return None


def _module_report(target: Any, settings: Config) -> Report:
    from relax_lint.judging.report import check_module
    from relax_lint.vm.versions import VERSION, as_module

    module = as_module(target)
    if module is None:
        kind = type(target).__name__
        raise TypeError(f"neither a path, a sequence of paths, an IRModule nor a Relax function: `{kind}`")
    if settings.lower:
        module = _lowered(module, settings)
    result = check_module(module, settings, path=IN_MEMORY)
    notes = (*result.notes, *unplanned_note(result.unplanned))
    status = InputStatus(IN_MEMORY, result.functions, "checked", notes=notes)
    found = FileResult(status, result.checks, result.memory, accesses=result.accesses)
    judged = apply_policy(found, (), settings)
    require_known_scopes(settings, result.memory)
    idle = idle_assumptions(result.assumptions, settings) if result.functions else ()
    return Report((judged,), VERSION, idle)


def _lowered(module: Any, settings: Config) -> Any:
    """The module after the pipeline; as it is where it cannot be lowered and need not be."""
    from relax_lint.sources.lowering import LoweringError, allocates, computes, lowered

    if settings.memory.lowers and (allocates(module) or not computes(module)):
        return module
    try:
        return lowered(module, settings.target_or_default)
    except LoweringError:
        if settings.memory.lowers:
            return module
        raise
