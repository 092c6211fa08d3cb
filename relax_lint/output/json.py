"""The report as one JSON object. `check-report.schema.json` beside this file is its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from relax_lint import __version__
from relax_lint.output.summary import Count, summarise
from relax_lint.results.check import Check, Fix, Related, Suppression
from relax_lint.results.confirmation import Confirmation
from relax_lint.results.identity import identities
from relax_lint.results.location import Location
from relax_lint.results.memory_figures import Amount, MemoryTotals, OverRange, PlaceOfPeak
from relax_lint.results.report import FileResult, Report
from relax_lint.support.escaping import json_text

if TYPE_CHECKING:
    from relax_lint.totals.comparison import Comparison, Subject

SCHEMA_VERSION = 1


def render_json(report: Report, comparison: Comparison | None = None) -> str:
    """The report as text of one JSON object, with what changed since an earlier one."""
    found = report_object(report)
    if comparison is not None:
        found["comparison"] = _comparison(comparison)
    return "{\n" + ",\n".join(f'  "{key}": {_text(value)}' for key, value in found.items()) + "\n}\n"


def _text(value: Any) -> str:
    """One line for each item of a list: readable, and with a tenth of the work of indenting everything."""
    if not isinstance(value, list) or not value:
        return json_text(value, exact=True)
    return "[\n    " + ",\n    ".join(json_text(item, exact=True) for item in value) + "\n  ]"


def report_object(report: Report) -> dict[str, Any]:
    """The report as plain dicts, lists and values."""
    checks = report.checks
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "relax-lint", "version": __version__, "tvm_version": report.tvm_version},
        "notes": list(report.notes),
        "stale": list(report.stale),
        "inputs": [_input(file) for file in report.files],
        "checks": [_check(*each) for each in zip(checks, identities(checks), strict=True)],
        "memory": [_memory(total) for total in report.memory],
        "summary": _summary(report),
    }


def _input(file: FileResult) -> dict[str, Any]:
    status = file.input
    return {
        "path": status.path,
        "functions": status.functions,
        "status": status.status,
        "reason": status.reason,
        "notes": list(status.notes),
    }


def _check(check: Check, identity: str) -> dict[str, Any]:
    return {
        "id": identity,
        "path": check.path,
        "rule": check.rule,
        "name": check.name,
        "verdict": check.verdict.value,
        "severity": check.severity.value,
        "message": check.message,
        "label": check.label,
        "module": check.module,
        "function": check.function,
        "binding": check.binding,
        "binding_index": check.binding_index,
        "location": _location(check.location),
        "related": [_related(place) for place in check.related],
        "origins": [_related(place) for place in check.origins],
        "safe_when": check.safe_when,
        "assumes": list(check.assumes),
        "examples": {"fine": _assignment(check.fine), "wrong": _assignment(check.wrong)},
        "allocators": {
            name: {"first_failure": _assignment(failure.first_failure)}
            | ({} if failure.known else {"known": False})
            for name, failure in check.allocators.items()
        },
        "proof": {"by": check.prover.value, "detail": check.proof}
        | ({} if check.proof_record is None else {"file": check.proof_record.file}),
        "undecided": check.undecided,
        "notes": list(check.notes),
        "help": list(check.help),
        "suppressed": check.suppressed,
        "suppressed_by": _suppression(check.suppressed_by),
        "fixes": [_fix(fix) for fix in check.fixes],
        **({} if check.confirmation is None else {"confirmation": _confirmation(check.confirmation)}),
    }


def _confirmation(confirmation: Confirmation) -> dict[str, Any]:
    return {
        "status": confirmation.status.value,
        "reason": confirmation.reason,
        "runs": [
            {
                "example": run.example,
                "call": run.call,
                "how": run.how,
                "outcome": run.outcome,
                "symptom": None if run.symptom is None else run.symptom.value,
            }
            for run in confirmation.runs
        ],
    }


def _related(place: Related) -> dict[str, Any]:
    return {"message": place.message, "location": _location(place.location)}


def _assignment(assignment: Mapping[str, int] | None) -> dict[str, int] | None:
    return None if assignment is None else dict(assignment)


def _location(location: Location | None) -> dict[str, Any] | None:
    if location is None:
        return None
    return {
        "path": location.path,
        "line": location.line,
        "column": location.column,
        "end_line": location.end_line,
        "end_column": location.end_column,
    }


def _suppression(found: Suppression | None) -> dict[str, str] | None:
    return None if found is None else {"kind": found.kind, "reason": found.reason}


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "title": fix.title,
        "applicability": fix.applicability,
        "edits": [
            {
                "path": edit.location.path,
                "start": {"line": edit.location.line, "column": edit.location.column},
                "end": {"line": edit.location.end_line, "column": edit.location.end_column},
                "text": edit.text,
            }
            for edit in fix.edits
        ],
    }


def _memory(total: MemoryTotals) -> dict[str, Any]:
    return {
        "path": total.path,
        "module": total.module,
        "function": total.function,
        "parameters": {"count": total.parameter_count, "bytes": _amount(total.parameter_bytes)},
        "constants": {"count": total.constant_count, "bytes": _amount(total.constant_bytes)},
        "io_used_memory": _amount(total.io_used_memory),
        "unplanned": {
            "static_count": total.unplanned_static_count,
            "static_bytes": total.unplanned_static_bytes,
            "dynamic_count": total.unplanned_dynamic_count,
            "dynamic_bytes": _amount(total.unplanned_dynamic_bytes),
        },
        "planned": {
            "static_count": total.planned_static_count,
            "static_bytes": total.planned_static_bytes,
            "dynamic_count": total.planned_dynamic_count,
            "dynamic_bytes": _amount(total.planned_dynamic_bytes),
        },
        "peak_live": _peak(total.peak_live, total.peak_at),
        "lower_bound": _amount(total.lower_bound),
        "reserved": _amounts(total.reserved),
        "repeated": _amounts(total.repeated),
        "by_scope": _amounts(total.by_scope),
        "by_device": _amounts(total.by_device),
        "symbols": [
            {"name": symbol.name, "low": symbol.low, "high": symbol.high} for symbol in total.symbols
        ],
        "bindings": dict(total.bindings),
        "unknown": dict(total.unknown),
        "over_range": {name: _over_range(found) for name, found in total.over_range.items()},
        "calls": [
            {"callee": call.callee, "binding": call.binding, "used_memory": _amount(call.used_memory)}
            for call in total.calls
        ],
    }


def _over_range(found: OverRange) -> dict[str, Any]:
    return {
        "maximum": found.maximum,
        "at": dict(found.at),
        "pieces": [{"low": piece.low, "high": piece.high, "expr": piece.expr} for piece in found.pieces],
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "with": comparison.path,
        "fail_above": None if comparison.limit is None else float(comparison.limit),
        "exceeds": comparison.exceeds,
        "changes": [
            {
                **_subject(change.subject),
                "total": change.total,
                "old": change.old,
                "new": change.new,
                "growth": None if change.growth is None else float(change.growth),
                "exceeds": change.exceeds,
            }
            for change in comparison.changes
        ],
        "added": [_subject(subject) for subject in comparison.added],
        "removed": [_subject(subject) for subject in comparison.removed],
    }


def _subject(subject: Subject) -> dict[str, Any]:
    return {"path": subject.path, "module": subject.module, "function": subject.name}


def _amount(amount: Amount | None) -> dict[str, Any] | None:
    return None if amount is None else {"expr": amount.expr, "value": amount.value}


def _amounts(amounts: Mapping[str, Amount | None]) -> dict[str, Any]:
    return {name: _amount(amount) for name, amount in amounts.items()}


def _peak(amount: Amount | None, place: PlaceOfPeak | None) -> dict[str, Any] | None:
    if amount is None:
        return None
    at = None if place is None else {"binding": place.binding, "location": _location(place.location)}
    return {"expr": amount.expr, "value": amount.value, "at": at}


def _summary(report: Report) -> dict[str, Any]:
    summary = summarise(report.checks)
    return {
        "checks": summary.all.total,
        **_count(summary.all),
        "undecided": summary.undecided,
        "suppressed": summary.suppressed,
        "by_rule": {rule: _count(number) for rule, number in summary.by_rule.items()},
        "by_prover": summary.by_prover,
        "selectivity": summary.selectivity,
    }


def _count(number: Count) -> dict[str, int]:
    return {
        "always_wrong": number.always_wrong,
        "always_fine": number.always_fine,
        "needs_runtime_check": number.needs_runtime_check,
    }
