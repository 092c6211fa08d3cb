"""Hand-made results for the output tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relax_lint.results.check import AllocatorFailure, Check, Related
from relax_lint.results.location import Location
from relax_lint.results.memory_figures import Amount, MemoryTotals
from relax_lint.results.report import FileResult, InputStatus, Report
from relax_lint.results.verdict import Severity, Verdict

PATH = "model.py"
NO_BYTES = Amount("0", 0)


def place(line: int, column: int, end_column: int, end_line: int | None = None, path: str = PATH) -> Location:
    return Location(path, line, column, end_line or line, end_column)


def overflow(**changes: Any) -> Check:
    """The finding of apache/tvm#17322, with fields replaced."""
    fields: dict[str, Any] = {
        "rule": "RLX101",
        "name": "storage-overflow",
        "verdict": Verdict.NEEDS_RUNTIME_CHECK,
        "severity": Severity.WARNING,
        "message": "tensor `alloc` needs `4*m` bytes, storage `storage` has 16 bytes",
        "path": PATH,
        "module": "Module",
        "function": "main",
        "binding": "alloc",
        "binding_index": 1,
        "location": place(9, 17, 63),
        "label": "needs `4*m` bytes",
        "related": (Related("storage of 16 bytes", place(8, 19, 56)),),
        "safe_when": "m <= 4",
        "fine": {"m": 4},
        "wrong": {"m": 5},
        "allocators": failing({"m": 5}, {"m": 1025}),
    }
    return Check(**{**fields, **changes})


def failing(naive: Mapping[str, int] | None, pooled: Mapping[str, int] | None) -> dict[str, AllocatorFailure]:
    return {"naive": AllocatorFailure(naive), "pooled": AllocatorFailure(pooled)}


LINES = {
    8: "        storage = R.memory.alloc_storage(R.shape([16]))",
    9: "        alloc = R.memory.alloc_tensor(storage, R.shape([m]), 0)",
}


def fine(**changes: Any) -> Check:
    """A check that holds."""
    changed = {
        "verdict": Verdict.ALWAYS_FINE,
        "severity": Severity.NONE,
        "safe_when": None,
        "fine": None,
        "wrong": None,
        "allocators": failing(None, None),
    }
    return overflow(**{**changed, **changes})


def totals(**changes: Any) -> MemoryTotals:
    """One symbolic tensor on 16 bytes."""
    fields: dict[str, Any] = {
        "path": PATH,
        "module": "Module",
        "function": "main",
        "parameter_count": 1,
        "parameter_bytes": Amount("4*m", None),
        "constant_count": 0,
        "constant_bytes": NO_BYTES,
        "io_used_memory": Amount("8*m", None),
        "unplanned_static_count": 0,
        "unplanned_static_bytes": 0,
        "unplanned_dynamic_count": 1,
        "unplanned_dynamic_bytes": Amount("4*m", None),
        "planned_static_count": 1,
        "planned_static_bytes": 16,
        "planned_dynamic_count": 0,
        "planned_dynamic_bytes": NO_BYTES,
        "reserved": {"naive": Amount("16", 16), "pooled": Amount("4096", 4096)},
        "by_scope": {"global": Amount("16", 16)},
        "by_device": {"0": Amount("16", 16)},
    }
    return MemoryTotals(**{**fields, **changes})


def report(
    *checks: Check,
    memory: tuple[MemoryTotals, ...] = (),
    lines: Mapping[int, str] = LINES,
    notes: tuple[str, ...] = (),
) -> Report:
    """A report of one file."""
    status = InputStatus(PATH, 1, "checked", notes=notes)
    return Report((FileResult(status, checks, memory, lines),), "0.27.0")
