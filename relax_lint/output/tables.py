"""Tables of the text output: the summary of the checks and the memory of each function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from relax_lint.diagnostic import Amount, MemoryTotals, Report
from relax_lint.output.style import Style, printable, width
from relax_lint.output.summary import Count, Summary, summarise

_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def summary_lines(report: Report, style: Style) -> Iterator[str]:
    """How many checks have which verdict, by rule."""
    summary = summarise(report.checks)
    functions = sum(file.input.functions for file in report.files)
    if not summary.all.total:
        inputs = count(len(report.files), "input")
        yield f"nothing to check in {count(functions, 'Relax function')} of {inputs}"
        return
    share = "" if summary.selectivity is None else f", {_percent(summary)} decided without a run-time check"
    head = f"{count(summary.all.total, 'check')} in {count(functions, 'function')}{share}"
    yield style.paint("strong", head)
    rows = [("", "always-wrong", "needs-runtime-check", "always-fine")]
    rows += [(f"{rule} {summary.names[rule]}", *_cells(number)) for rule, number in summary.by_rule.items()]
    if len(rows) > 2:
        rows.append(("all", *_cells(summary.all)))
    yield from table(rows)
    if summary.undecided:
        yield f"  {summary.undecided} of needs-runtime-check could not be decided"


def prover_lines(report: Report, style: Style) -> Iterator[str]:
    """How many checks were decided by which prover."""
    summary = summarise(report.checks)
    yield style.paint("strong", "decided by")
    yield from table([(prover, f"{number:,}") for prover, number in summary.by_prover.items()])


def memory_lines(totals: Iterable[MemoryTotals], allocators: Sequence[str], style: Style) -> Iterator[str]:
    """What each function needs, in bytes."""
    for total in totals:
        name = ".".join(filter(None, (total.module, total.function)))
        yield style.paint("strong", f"memory of {printable(name)} ({printable(total.path)})")
        yield from table(_memory_rows(total, allocators), right=False)


def amount_text(amount: Amount | None) -> str:
    """`4,096 bytes (4 KiB)`, or `4*m bytes`, or `not known`."""
    if amount is None:
        return "not known"
    if amount.value is None:
        return f"{printable(amount.expr)} bytes"
    return bytes_text(amount.value)


def bytes_text(size: int) -> str:
    """A number of bytes, with a rounded binary multiple from 1 KiB on."""
    exact = f"{size:,} {'byte' if size == 1 else 'bytes'}"
    for unit, name in _UNITS:
        if abs(size) >= unit:
            return f"{exact} ({size / unit:,.4g} {name})"
    return exact


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


def _memory_rows(total: MemoryTotals, allocators: Sequence[str]) -> list[tuple[str, str]]:
    rows = [
        ("unplanned", _part(total.unplanned_static_bytes, total.unplanned_static_count, "tensor",
                            total.unplanned_dynamic_bytes, total.unplanned_dynamic_count)),
        ("planned", _part(total.planned_static_bytes, total.planned_static_count, "storage",
                          total.planned_dynamic_bytes, total.planned_dynamic_count)),
    ]  # fmt: skip
    if total.peak_live is not None:
        rows.append(("peak live", amount_text(total.peak_live)))
    rows += [
        (f"reserved, {name}", amount_text(total.reserved[name]))
        for name in allocators
        if name in total.reserved
    ]
    return rows


def _part(static: int, statics: int, noun: str, dynamic: Amount | None, dynamics: int) -> str:
    parts = []
    if statics or not dynamics:
        parts.append(f"{bytes_text(static)} in {count(statics, noun)}")
    if dynamics:
        parts.append(f"{amount_text(dynamic)} in {count(dynamics, noun)} of symbolic size")
    return ", ".join(parts)
