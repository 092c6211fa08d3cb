"""An earlier report, read back from the file that `--output-format json` wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from relax_lint.support.errors import UserError
from relax_lint.totals.compared_maxima import Bounds
from relax_lint.totals.comparison import FunctionTotals, Subject, function_totals

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
    unplanned, planned = total["unplanned"], total["planned"]
    found = {
        "unplanned.dynamic_bytes": _expr(unplanned["dynamic_bytes"]),
        "planned.dynamic_bytes": _expr(planned["dynamic_bytes"]),
        "peak_live": _expr(total["peak_live"]),
        "parameters.bytes": _expr(total["parameters"]["bytes"]),
        "constants.bytes": _expr(total["constants"]["bytes"]),
        **_exprs("reserved.", total["reserved"]),
    }
    # An older release has not written these.
    found |= _exprs("", {name: total[name] for name in ("lower_bound",) if name in total})
    found |= _exprs("repeated.", total.get("repeated") or {})
    workspaces, packed = total.get("workspaces"), total.get("packed")
    if workspaces is not None:
        found["workspaces.held"] = _expr(workspaces["held"])
        found |= _exprs("workspaces.together.", workspaces["together"])
    if packed is not None:
        found |= _exprs("packed.", {name: packed[name] for name in ("device", "host")})
    return function_totals(
        _subject(total),
        found,
        {"tensors": int(unplanned["static_bytes"]), "planned": int(planned["static_bytes"])},
        frozenset(total["unknown"]),
        dict(total["bindings"]),
        _over_range(total["over_range"]) if "over_range" in total else None,
        {symbol["name"]: (symbol["low"], symbol["high"]) for symbol in total["symbols"]},
    )


def _over_range(ranges: Mapping[str, Any]) -> dict[str, tuple[int, bool, Bounds]]:
    return {
        name: (
            int(over["maximum"]),
            bool(over["is_limit"]),
            tuple((one["name"], one["low"], one["high"]) for one in over["within"]),
        )
        for name, over in ranges.items()
    }


def _subject(total: Mapping[str, Any]) -> Subject:
    path, module, name = total["path"], total["module"], total["function"]
    if not isinstance(path, str) or not isinstance(name, str) or not isinstance(module, str | None):
        raise TypeError
    return Subject(path, module, name)


def _exprs(prefix: str, amounts: Mapping[str, Any]) -> dict[str, str | None]:
    return {f"{prefix}{name}": _expr(amount) for name, amount in amounts.items()}


def _expr(amount: Any) -> str | None:
    if amount is None:
        return None
    if not isinstance(amount["expr"], str):
        raise TypeError
    return str(amount["expr"])
