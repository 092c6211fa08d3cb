"""Static linter for memory safety in Apache TVM's Relax IR.

    import relax_lint

    report = relax_lint.check("model.py")       # files and folders, in worker processes
    report = relax_lint.check(ir_module)        # a module in memory, in this process
    relax_lint.assert_memory_safe(ir_module)    # in a test

    for total in relax_lint.memory(ir_module, {"n": 128}):
        if total.peak_live is not None:
            print(total.function, total.peak_live.value, "bytes =", total.peak_live.expr)

    with tvm.transform.PassContext(instruments=[relax_lint.MemoryLint()]):
        tvm.compile(ir_module)                  # names the pass that introduced a finding

    safe = relax_lint.fix(ir_module)            # run-time checks and storage sizes that are missing

    seq = tvm.transform.Sequential([..., relax_lint.InsertMemoryChecks(), relax_lint.AnnotateUsedMemory()])

Importing this package imports neither TVM nor sympy.
"""

from __future__ import annotations

# Importing `typing` for this constant would be felt at every start; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from relax_lint.api import assert_memory_safe, check, memory
    from relax_lint.instrument import MemoryLint, MemoryLintError
    from relax_lint.notebook import load_ipython_extension
    from relax_lint.repair.module import InsertMemoryChecks, fix, insert_memory_checks
    from relax_lint.results.check import Check, Fix
    from relax_lint.results.location import Location
    from relax_lint.results.memory_figures import Amount, MemoryTotals
    from relax_lint.results.memory_report import MemoryReport
    from relax_lint.results.report import FileResult, Report
    from relax_lint.results.verdict import Severity, Verdict
    from relax_lint.settings.config import Config, ConfigError
    from relax_lint.sources.lowering import LoweringError
    from relax_lint.support.errors import RunError, UserError
    from relax_lint.totals.annotate import AnnotateUsedMemory, annotate_used_memory

__version__ = "0.1.0"
__all__ = [
    "check",
    "memory",
    "assert_memory_safe",
    "fix",
    "insert_memory_checks",
    "InsertMemoryChecks",
    "MemoryLint",
    "MemoryLintError",
    "annotate_used_memory",
    "AnnotateUsedMemory",
    "Report",
    "FileResult",
    "Check",
    "Verdict",
    "Severity",
    "Location",
    "Fix",
    "MemoryTotals",
    "Amount",
    "Config",
    "UserError",
    "ConfigError",
    "RunError",
    "LoweringError",
    "MemoryReport",
    "load_ipython_extension",
    "__version__",
]

# Loaded when they are first asked for: the command starts without them, and some need TVM.
_HOMES = {
    "check": "relax_lint.api",
    "memory": "relax_lint.api",
    "assert_memory_safe": "relax_lint.api",
    "fix": "relax_lint.repair.module",
    "insert_memory_checks": "relax_lint.repair.module",
    "InsertMemoryChecks": "relax_lint.repair.module",
    "MemoryLint": "relax_lint.instrument",
    "MemoryLintError": "relax_lint.instrument",
    "annotate_used_memory": "relax_lint.totals.annotate",
    "AnnotateUsedMemory": "relax_lint.totals.annotate",
    "Report": "relax_lint.results.report",
    "FileResult": "relax_lint.results.report",
    "Check": "relax_lint.results.check",
    "Verdict": "relax_lint.results.verdict",
    "Severity": "relax_lint.results.verdict",
    "Location": "relax_lint.results.location",
    "Fix": "relax_lint.results.check",
    "MemoryTotals": "relax_lint.results.memory_figures",
    "Amount": "relax_lint.results.memory_figures",
    "Config": "relax_lint.settings.config",
    "UserError": "relax_lint.support.errors",
    "ConfigError": "relax_lint.settings.config",
    "RunError": "relax_lint.support.errors",
    "LoweringError": "relax_lint.sources.lowering",
    "MemoryReport": "relax_lint.results.memory_report",
    "load_ipython_extension": "relax_lint.notebook",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
