"""Tables of the text output, and the summary of the checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relax_lint.output.style import Style, width
from relax_lint.output.summary import Count, Summary, summarise
from relax_lint.results.accesses import FunctionAccesses
from relax_lint.results.report import Report
from relax_lint.support.escaping import printable


def summary_lines(report: Report, style: Style) -> Iterator[str]:
    """How many checks have which verdict, by rule."""
    summary = summarise(report.checks)
    functions = sum(file.input.functions for file in report.files)
    if not summary.all.total:
        inputs = count(len(report.files), "input")
        yield f"nothing to check in {count(functions, 'Relax function')} of {inputs}"
        return
    if summary.all.always_fine == summary.all.total:
        yield f"{style.paint('strong', 'ok')}: {_proved_safe(report)}"
        return
    share = "" if summary.selectivity is None else f", {_percent(summary)} proved"
    head = f"{count(summary.all.total, 'check')} in {count(functions, 'function')}{share}"
    yield style.paint("strong", head)
    yield from _verdict_table(summary, style.columns)
    if summary.undecided:
        yield f"  {summary.undecided} of needs-runtime-check could not be decided"
    if summary.suppressed:
        yield f"  {count(summary.suppressed, 'finding')} suppressed"


def _verdict_table(summary: Summary, columns: int | None) -> Iterator[str]:
    told = {rule: number for rule, number in summary.by_rule.items() if number.always_fine < number.total}
    heads = ("always-wrong", "needs-runtime-check", "always-fine")
    rows = [("", *heads), *((f"{rule} {summary.names[rule]}", *_cells(told[rule])) for rule in told)]
    # What is proved safe throughout has no row of its own.
    every = [("all", *_cells(summary.all))] if len(summary.by_rule) > 1 else []
    lines = list(table([*rows, *every]))
    if columns is not None and max(map(width, lines)) > columns:
        narrow = [("", "wrong", "check", "fine"), *((rule, *_cells(told[rule])) for rule in told)]
        lines = list(table([*narrow, *every]))
    yield from lines


def _proved_safe(report: Report) -> str:
    """`11 operations proved safe, 16 bytes`: the bytes of the storages, where they are one known number."""
    operations = {(check.path, check.module, check.function, check.binding_index) for check in report.checks}
    planned = [total.planned_static_bytes for total in report.memory if not total.planned_dynamic_count]
    text = f"{count(len(operations), 'operation')} proved safe"
    if len(planned) == len(report.memory) == 1 and planned[0]:
        text += f", {count(planned[0], 'byte')}"
    return text


def prover_lines(report: Report, style: Style) -> Iterator[str]:
    """How many checks were decided by which prover."""
    summary = summarise(report.checks)
    yield style.paint("strong", "decided by")
    yield from table([(prover, f"{number:,}") for prover, number in summary.by_prover.items()])


def access_lines(report: Report, style: Style, *, full: bool) -> Iterator[str]:
    """What was said of the accesses of kernels: of every function, or of those where not all were proved."""
    told = [found for found in report.accesses if found.total and (full or not found.all_proved)]
    if told:
        yield style.paint("strong", "accesses of kernels")
    for found in told:
        yield f"  {printable(found.function)}: {', '.join(_access_counts(found))}"
        reasons = [f"undecided: {reason} ({number:,})" for reason, number in found.reasons.items()]
        kernels = [f"`{kernel}` is not analysed as a whole: {why}" for kernel, why in found.unread.items()]
        assumed = [f"assumed: {text}" for text in found.assumptions]
        yield from (f"    {printable(line)}" for line in (*assumed, *reasons, *kernels))


def _access_counts(found: FunctionAccesses) -> Iterator[str]:
    yield f"{found.proved:,} proved"
    for number, word in ((found.wrong, "wrong"), (found.assumed, "assumed"), (found.undecided, "undecided")):
        if number:
            yield f"{number:,} {word}"
    for symbols, number in found.depends.items():
        yield f"{number:,} depend{'s' if number == 1 else ''} on {printable(symbols)}"


def count(number: int, noun: str) -> str:
    """`1 check`, `2 checks`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def table(rows: Sequence[Sequence[str]], *, right: bool = True) -> Iterator[str]:
    """Rows in columns, indented; all columns but the first to the right if `right`."""
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = []
        for column, cell in enumerate(row):
            padding = " " * (widths[column] - width(cell))
            cells.append(padding + cell if right and column else cell + padding)
        yield ("  " + "  ".join(cells)).rstrip()


def _percent(summary: Summary) -> str:
    # Rounded down: 100 % is said only of all.
    decided = summary.all.always_fine + summary.all.always_wrong
    return f"{1000 * decided // summary.all.total / 10:g} %"


def _cells(number: Count) -> tuple[str, str, str]:
    return f"{number.always_wrong:,}", f"{number.needs_runtime_check:,}", f"{number.always_fine:,}"
