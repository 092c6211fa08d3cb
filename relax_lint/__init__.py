"""Static linter for memory safety in Apache TVM's Relax IR.

    import relax_lint

    report = relax_lint.check("model.py")       # files and folders, in worker processes
    report = relax_lint.check(ir_module)        # a module in memory, in this process

    for total in relax_lint.memory(ir_module, {"n": 128}):
        print(total.function, total.peak_live.value, "bytes =", total.peak_live.expr)

    seq = tvm.transform.Sequential([..., relax_lint.AnnotateUsedMemory()])

Importing this package imports neither TVM nor sympy.
"""

from __future__ import annotations

# Importing `typing` for this constant would be felt at every start; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from relax_lint.config import Config
    from relax_lint.diagnostic import MemoryTotals, Report
    from relax_lint.totals.annotate import AnnotateUsedMemory, annotate_used_memory

__version__ = "0.1.0"
__all__ = ["check", "memory", "annotate_used_memory", "AnnotateUsedMemory", "__version__"]


def __getattr__(name: str) -> Any:
    # They need TVM, which this package is imported without.
    if name in ("annotate_used_memory", "AnnotateUsedMemory"):
        from relax_lint.totals import annotate

        return getattr(annotate, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def check(target: Any, config: Config | None = None) -> Report:
    """Judge every memory operation of a path (a file or a folder) or of an IRModule.

    `config` defaults to `Config()`: no pyproject.toml is looked for. Raises `relax_lint.runner.RunError` when
    TVM cannot be loaded. What cannot be read or analysed in a path is a finding in the report, not an
    exception.
    """
    import os

    from relax_lint.config import Config
    from relax_lint.diagnostic import FileResult, InputStatus, Report

    settings = config or Config()
    if isinstance(target, (str, os.PathLike)):
        from relax_lint.runner import run

        return run([os.fspath(target)], settings)
    from relax_lint.engine import check_module
    from relax_lint.policy import apply_policy

    result = check_module(target, settings)
    status = InputStatus("<module>", result.functions, "checked", notes=result.notes)
    judged = apply_policy(FileResult(status, result.checks, result.memory), (), settings)
    return Report((judged,), result.tvm_version)


def memory(
    target: Any, bindings: Mapping[str, int] | None = None, config: Config | None = None
) -> tuple[MemoryTotals, ...]:
    """The memory totals, in bytes, of every function of a path (a file or a folder) or of an IRModule.

    A total is a formula in the symbols of its function (`expr`) and, where no symbol remains or `bindings`
    gives each of them a value, an exact number (`value`). `config` defaults to `Config()`.

    Raises ValueError for a symbol that no function has or a value that is no size, and for a path in which
    something cannot be read or analysed; `relax_lint.runner.RunError` when TVM cannot be loaded.
    """
    from dataclasses import replace

    from relax_lint.config import UNREADABLE_BLOCKS, Config
    from relax_lint.memory_request import MemoryRequest, read_bindings, require_known

    bound = read_bindings(f"{name}={value}" for name, value in (bindings or {}).items())
    settings = replace(config or Config(), select=UNREADABLE_BLOCKS, memory=MemoryRequest(bound))
    report = check(target, settings)
    for finding in report.checks:
        raise ValueError(f"{finding.path}: {finding.message}")
    require_known(bound, report.memory)
    return report.memory
