"""From the text of a module to an IRModule, in the subprocess. Importing this imports TVM."""

from __future__ import annotations

from typing import Any

import tvm

from relax_lint.results.problem import Problem
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units


class UnreadableModuleError(Exception):
    """The text does not hold exactly one module, or that module cannot be read."""


def load_module(text: str, form: str) -> Any:
    """The module in a TVMScript file (`form` is `script`), read as the linter reads it, or in saved IR
    (`json`). Raises UnreadableModuleError.
    """
    if form == "json":
        return tvm.ir.load_json(text)
    found = read_units(text.encode(), "module.py")
    if found.problems:
        raise UnreadableModuleError(found.problems[0].message)
    if len(found.units) != 1:
        raise UnreadableModuleError(f"one module is needed, the text has {len(found.units)}")
    parsed = parse_unit(found.units[0])
    if isinstance(parsed, Problem):
        raise UnreadableModuleError(parsed.message)
    return parsed.ir_module
