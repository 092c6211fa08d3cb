"""An earlier report, read back from the file that `--output-format json` wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from relax_lint.support.errors import UserError
from relax_lint.totals.comparison import Formulas, FunctionTotals, Subject, formulas

_LARGEST_REPORT = 1 << 28


class ComparisonError(UserError, ValueError):
    """An earlier report that cannot be compared with; the text is for the user."""


def read_report(path: str) -> list[FunctionTotals]:
    """The memory totals of a JSON report. Raises ComparisonError."""
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST_REPORT + 1)
    except OSError as error:
        raise ComparisonError(f"cannot read {path}: {error.strerror}") from None
    if len(data) > _LARGEST_REPORT:
        raise ComparisonError(f"{path} is too large for a report")
    try:
        memory = json.loads(data)["memory"]
        if not isinstance(memory, list):
            raise TypeError
        return [_totals(total) for total in memory]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ComparisonError(f"{path} is not a JSON report of `relax-lint memory`") from None


def _totals(total: Mapping[str, Any]) -> FunctionTotals:
    return FunctionTotals(
        _subject(total), _formulas(total), frozenset(total["unknown"]), dict(total["bindings"])
    )


def _subject(total: Mapping[str, Any]) -> Subject:
    path, module, name = total["path"], total["module"], total["function"]
    if not isinstance(path, str) or not isinstance(name, str) or not isinstance(module, str | None):
        raise TypeError
    return Subject(path, module, name)


def _formulas(total: Mapping[str, Any]) -> Formulas:
    planned, reserved = total["planned"], total["reserved"]
    return formulas(
        planned_static=int(planned["static_bytes"]),
        planned_dynamic=_expr(planned["dynamic_bytes"]),
        peak_live=_expr(total["peak_live"]),
        naive=_expr(reserved.get("naive")),
        pooled=_expr(reserved.get("pooled")),
        parameters=_expr(total["parameters"]["bytes"]),
        constants=_expr(total["constants"]["bytes"]),
    )


def _expr(amount: Any) -> str | None:
    if amount is None:
        return None
    if not isinstance(amount["expr"], str):
        raise TypeError
    return str(amount["expr"])
