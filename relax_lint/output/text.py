"""The report as text for people."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from relax_lint.output.finding import finding_lines
from relax_lint.output.memory import memory_lines
from relax_lint.output.statistics import rule_lines
from relax_lint.output.style import PLAIN, Style
from relax_lint.output.tables import access_lines, count, prover_lines, summary_lines
from relax_lint.output.wrapping import fold_all
from relax_lint.results.check import Check, is_finding
from relax_lint.results.memory_figures import MemoryTotals
from relax_lint.results.report import Report
from relax_lint.support.escaping import printable, without_commands

if TYPE_CHECKING:
    from relax_lint.totals.comparison import Comparison
    from relax_lint.totals.serving import Serving

NOTHING_FOUND = "no Relax function in {}"


def render_text(
    report: Report,
    style: Style = PLAIN,
    *,
    quiet: bool = False,
    statistics: bool = False,
    provers: bool = False,
    explain: bool = False,
    allocators: Sequence[str] = ("naive", "pooled"),
) -> str:
    """Every finding, then (unless `quiet`) the memory totals of the functions that allocate and the summary.
    With `statistics` there is the number of findings of each rule in place of findings and totals. `provers`
    adds which prover decided how much, `explain` what was asked about each operation.
    """
    sections = _counted(report, style) if statistics else _finding_sections(report, style)
    if explain:
        from relax_lint.output.explained import explained_lines

        sections += explained_lines(report, style)
    if not quiet:
        shown = () if statistics else allocators
        sections += [*_notes(report), *_tables(report, style, provers, shown)]
    return _joined(sections, style)


def render_memory(
    report: Report,
    style: Style = PLAIN,
    *,
    quiet: bool = False,
    statistics: bool = False,
    allocators: Sequence[str] = ("naive", "pooled"),
    comparison: Comparison | None = None,
    formulas: bool = False,
    served: Sequence[Serving] = (),
) -> str:
    """The memory totals of every function, after what could not be analysed, and what changed since an
    earlier report. `quiet` leaves out the notes; `statistics` counts findings instead of showing them;
    `formulas` stand beside numbers, `served` is what serving takes.
    """
    sections = _counted(report, style) if statistics else _finding_sections(report, style)
    if not quiet:
        sections += _notes(report)
    if report.memory:
        sections.append(list(memory_lines(report.memory, allocators, style, full=True, formulas=formulas)))
    elif not sections:
        sections.append([nothing_found(len(report.files))])
    if served:
        from relax_lint.output.serving import serving_lines

        sections.append(list(serving_lines(served, style)))
    if comparison is not None:
        sections.append(_comparison(comparison, style))
    return _joined(sections, style)


def render_findings(report: Report, style: Style = PLAIN, comparison: Comparison | None = None) -> str:
    """The findings, and what changed since an earlier report, alone."""
    sections = _finding_sections(report, style)
    if comparison is not None:
        sections.append(_comparison(comparison, style))
    return _joined(sections, style)


def _comparison(comparison: Comparison, style: Style) -> list[str]:
    from relax_lint.output.comparison import comparison_lines

    return list(comparison_lines(comparison, style))


def nothing_found(inputs: int) -> str:
    """The text if there was nothing to judge."""
    return NOTHING_FOUND.format(count(inputs, "input"))


def _finding_sections(report: Report, style: Style) -> list[list[str]]:
    """One section for each condition: operations of a function that are safe under the same condition
    are mended by one check, so only the first is shown in full.
    """
    sections = []
    for file in report.files:
        groups: dict[Hashable, list[Check]] = {}
        for number, check in enumerate(sorted(filter(is_finding, file.checks), key=_place)):
            # Where no condition is known, a finding is shown alone.
            groups.setdefault(_condition(check) or number, []).append(check)
        for first, *others in groups.values():
            sections.append(list(finding_lines(first, file.lines, style, others)))
    return sections


def _counted(report: Report, style: Style) -> list[list[str]]:
    lines = list(rule_lines(report.findings, style))
    return [lines] if lines else []


def _condition(check: Check) -> Hashable:
    """What findings that are shown as one have in common; None where no condition is known."""
    if check.safe_when is None:
        return None
    return (check.rule, check.module, check.function, check.verdict, check.severity, check.safe_when)


def _place(check: Check) -> tuple[int, int]:
    return (0, 0) if check.location is None else (check.location.line, check.location.column)


def _notes(report: Report) -> list[list[str]]:
    inputs = [file.input for file in report.files]
    notes = [printable(f"{status.path}: {note}") for status in inputs for note in status.notes]
    notes += map(printable, report.notes)
    return [notes] if notes else []


def _tables(report: Report, style: Style, provers: bool, allocators: Sequence[str]) -> Iterator[list[str]]:
    """The tables below the findings; no totals where there are no `allocators` to tell of."""
    if not report.checks and not report.memory:
        yield [nothing_found(len(report.files))]
        return
    allocating = [total for total in report.memory if _allocates(total)]
    if allocating and allocators:
        yield list(memory_lines(allocating, allocators, style))
    if provers and report.checks:
        yield list(prover_lines(report, style))
    if covered := list(access_lines(report, style, full=provers)):
        yield covered
    yield list(summary_lines(report, style))


def _allocates(total: MemoryTotals) -> bool:
    return bool(
        total.unplanned_static_count
        + total.unplanned_dynamic_count
        + total.planned_static_count
        + total.planned_dynamic_count
    )


def _joined(sections: list[list[str]], style: Style) -> str:
    folded = (fold_all(section, style.columns) for section in sections)
    text = "\n\n".join("\n".join(section) for section in folded) + ("\n" if sections else "")
    return without_commands(text)
