"""Static linter for memory safety in Apache TVM's Relax IR.

    import relax_lint

    report = relax_lint.check("model.py")       # files and folders, in worker processes
    report = relax_lint.check(ir_module)        # a module in memory, in this process

Importing this package imports neither TVM nor sympy.
"""

from __future__ import annotations

# Importing `typing` for this constant would be felt at every start; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from relax_lint.config import Config
    from relax_lint.diagnostic import Report

__version__ = "0.1.0"
__all__ = ["check", "__version__"]


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

    result = check_module(target, settings)
    status = InputStatus("<module>", result.functions, "checked", notes=result.notes)
    return Report((FileResult(status, result.checks, result.memory),), result.tvm_version)
