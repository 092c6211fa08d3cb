"""What the linter says of a module, in a form in which two modules that mean the same can be compared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import product
from typing import Any

import sympy

from relax_lint.judging.report import check_module
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.parsing import parse_condition
from tests.metamorphic.programs import Text

Saying = tuple[str, str, str, str, str]
"""Function, binding, rule, verdict, and the safe region as the points of a grid where it holds."""

_GRID = (-3, 0, 1, 2, 4, 5, 8, 16, 100, 1025)
_AXES = 3
_WORD = re.compile(r"[A-Za-z_]\w*")


def sayings(module: Any, program: Text, names: Mapping[str, str] | None = None) -> Counter[Saying]:
    """Every check, the fine ones too; `names` gives the original name of what was renamed."""
    original = names or {}
    return Counter(
        (
            original.get(str(check.function), str(check.function)),
            original.get(str(check.binding), str(check.binding)),
            check.rule,
            check.verdict.value,
            _points(_renamed(check.safe_when or "", original)),
        )
        for check in check_module(module, program.config, totals=False).checks
    )


def _renamed(text: str, original: Mapping[str, str]) -> str:
    return _WORD.sub(lambda match: original.get(match[0], match[0]), text)


def _points(condition: str) -> str:
    """Where a condition holds, among the points of a grid over its symbols. Its text, where it has many symbols."""
    if not condition:
        return ""
    words = sorted(
        set(_WORD.findall(condition)) - {"and", "or", "not", "min", "max", "floor", "ceiling", "Mod"}
    )
    symbols = {name: sympy.Symbol(name, integer=True) for name in words}
    parsed = parse_condition(condition, symbols)
    used = sorted(parsed.free_symbols, key=str)
    if len(used) > _AXES:
        return condition
    holds = compile_condition(parsed, tuple(used))
    points = [point for point in product(_GRID, repeat=len(used)) if holds(*point)]
    return f"{used}: {points}"
