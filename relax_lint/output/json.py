"""The report as one JSON object. `check-report.schema.json` beside this file is its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from relax_lint import __version__
from relax_lint.output.report_model import (
    ABSENT,
    SCHEMA_VERSION,
    AccessesObject,
    ChangeObject,
    CheckObject,
    ComparisonObject,
    Counted,
    EditObject,
    Examples,
    Failure,
    FixObject,
    MemoryObject,
    Peak,
    Position,
    Proof,
    ReportObject,
    SubjectObject,
    SummaryObject,
    Tensors,
    Tool,
)
from relax_lint.output.summary import summarise
from relax_lint.results.accesses import FunctionAccesses
from relax_lint.results.check import Check, Edit, Fix
from relax_lint.results.identity import identities
from relax_lint.results.memory_figures import MemoryTotals
from relax_lint.results.report import Report
from relax_lint.support.escaping import json_text

if TYPE_CHECKING:
    from relax_lint.totals.comparison import Comparison, Subject
    from relax_lint.totals.serving import Serving


def render_json(report: Report, comparison: Comparison | None = None, served: Sequence[Serving] = ()) -> str:
    """The report as text of one JSON object, with what changed since an earlier report and with what
    serving takes.
    """
    found = _plain(_report(report, comparison, served))
    return "{\n" + ",\n".join(f'  "{key}": {_text(value)}' for key, value in found.items()) + "\n}\n"


def _text(value: Any) -> str:
    """One line for each item of a list: readable, and with a tenth of the work of indenting everything."""
    if not isinstance(value, list) or not value:
        return json_text(value, exact=True)
    return "[\n    " + ",\n    ".join(json_text(item, exact=True) for item in value) + "\n  ]"


def _plain(value: Any) -> Any:
    """Objects as dicts, field by field, in what `json` can write."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        kind: Any = type(value)
        found = ((key, getattr(value, name)) for name, key in _keys(kind))
        return {key: _plain(item) for key, item in found if item is not ABSENT}
    return [_plain(item) for item in value]


@cache
def _keys(cls: Any) -> tuple[tuple[str, str], ...]:
    """The names of the fields of a class, each with its key in the report."""
    return tuple((field.name, field.name.rstrip("_")) for field in fields(cls))


def _report(report: Report, comparison: Comparison | None, served: Sequence[Serving]) -> ReportObject:
    checks = report.checks
    return ReportObject(
        schema_version=SCHEMA_VERSION,
        tool=Tool("relax-lint", __version__, report.tvm_version),
        notes=report.notes,
        stale=report.stale,
        inputs=tuple(file.input for file in report.files),
        checks=tuple(_check(*each) for each in zip(checks, identities(checks), strict=True)),
        memory=tuple(map(_memory, report.memory)),
        accesses=tuple(map(_accesses, report.accesses)),
        summary=_summary(report),
        comparison=ABSENT if comparison is None else _comparison(comparison),
        serving=tuple(served) if served else ABSENT,
    )


def _check(check: Check, identity: str) -> CheckObject:
    record = check.proof_record
    return CheckObject(
        id=identity,
        path=check.path,
        rule=check.rule,
        name=check.name,
        verdict=check.verdict,
        severity=check.severity,
        message=check.message,
        label=check.label,
        module=check.module,
        function=check.function,
        binding=check.binding,
        binding_index=check.binding_index,
        location=check.location,
        related=check.related,
        origins=check.origins,
        safe_when=check.safe_when,
        assumes=check.assumes,
        examples=Examples(check.fine, check.wrong),
        allocators={
            name: Failure(failure.first_failure, ABSENT if failure.known else False)
            for name, failure in check.allocators.items()
        },
        proof=Proof(
            check.prover,
            check.proof,
            ABSENT if record is None else record.file,
            ABSENT if record is None else record.claims,
        ),
        undecided=check.undecided,
        notes=check.notes,
        help=check.help,
        suppressed=check.suppressed,
        suppressed_by=check.suppressed_by,
        fixes=tuple(map(_fix, check.fixes)),
        confirmation=ABSENT if check.confirmation is None else check.confirmation,
        count=ABSENT if check.count == 1 else check.count,
    )


def _fix(fix: Fix) -> FixObject:
    return FixObject(fix.title, fix.applicability, tuple(map(_edit, fix.edits)))


def _edit(edit: Edit) -> EditObject:
    place = edit.location
    start, end = Position(place.line, place.column), Position(place.end_line, place.end_column)
    return EditObject(place.path, start, end, edit.text)


def _accesses(found: FunctionAccesses) -> AccessesObject:
    return AccessesObject(
        path=found.path,
        module=found.module,
        function=found.function,
        proved=found.proved,
        wrong=found.wrong,
        assumed=found.assumed,
        undecided=found.undecided,
        depends=found.depends,
        assumptions=found.assumptions,
        reasons=found.reasons,
        unread=found.unread,
    )


def _memory(total: MemoryTotals) -> MemoryObject:
    peak, place = total.peak_live, total.peak_at
    return MemoryObject(
        path=total.path,
        module=total.module,
        function=total.function,
        parameters=Counted(total.parameter_count, total.parameter_bytes),
        constants=Counted(total.constant_count, total.constant_bytes),
        io_used_memory=total.io_used_memory,
        unplanned=Tensors(
            total.unplanned_static_count,
            total.unplanned_static_bytes,
            total.unplanned_dynamic_count,
            total.unplanned_dynamic_bytes,
        ),
        planned=Tensors(
            total.planned_static_count,
            total.planned_static_bytes,
            total.planned_dynamic_count,
            total.planned_dynamic_bytes,
        ),
        peak_live=None if peak is None else Peak(peak.expr, peak.value, place),
        lower_bound=total.lower_bound,
        reserved=total.reserved,
        repeated=total.repeated,
        by_scope=total.by_scope,
        by_device=total.by_device,
        symbols=total.symbols,
        bindings=total.bindings,
        unknown=total.unknown,
        over_range=total.over_range,
        at_most=total.at_most,
        calls=total.calls,
        workspaces=total.workspaces,
        packed=total.packed,
        why=total.why,
    )


def _comparison(comparison: Comparison) -> ComparisonObject:
    return ComparisonObject(
        with_=comparison.path,
        fail_above=None if comparison.limit is None else float(comparison.limit),
        exceeds=comparison.exceeds,
        changes=tuple(
            ChangeObject(
                change.subject.path,
                change.subject.module,
                change.subject.name,
                total=change.total,
                old=change.old,
                new=change.new,
                growth=None if change.growth is None else float(change.growth),
                exceeds=change.exceeds,
            )
            for change in comparison.changes
        ),
        added=tuple(map(_subject, comparison.added)),
        removed=tuple(map(_subject, comparison.removed)),
    )


def _subject(subject: Subject) -> SubjectObject:
    return SubjectObject(subject.path, subject.module, subject.name)


def _summary(report: Report) -> SummaryObject:
    summary = summarise(report.checks)
    count = summary.all
    return SummaryObject(
        checks=count.total,
        always_wrong=count.always_wrong,
        always_fine=count.always_fine,
        needs_runtime_check=count.needs_runtime_check,
        undecided=summary.undecided,
        suppressed=summary.suppressed,
        by_rule=summary.by_rule,
        by_prover=summary.by_prover,
        selectivity=summary.selectivity,
    )
