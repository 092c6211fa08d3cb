"""Results as short HTML, for notebooks: tables that need no style sheet and no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from relax_lint.support.byte_text import bytes_text
from relax_lint.support.escaping import printable

if TYPE_CHECKING:
    from relax_lint.results.check import Check
    from relax_lint.results.memory_figures import Amount, MemoryTotals

SHOWN = 20
"""Findings and functions that a report shows."""
_WIDTH = 320
_COLOURS = {"error": "#b3261e", "warning": "#8a5a00", "note": "#1f5fa8", "none": "#2e6b34"}


def checks_html(findings: Sequence[Check], judged: int) -> str:
    """Findings as a table, after a line that counts them."""
    number = f"{len(findings):,} finding{'' if len(findings) == 1 else 's'}"
    head = f"<p><b>{number}</b> among {judged:,} judged operations</p>"
    rows = "".join(map(_check_row, findings[:SHOWN]))
    more = "" if len(findings) <= SHOWN else f"<p>and {len(findings) - SHOWN:,} more</p>"
    return f"{head}<table>{rows}</table>{more}" if rows else head


def check_html(check: Check) -> str:
    """One check."""
    return f"<table>{_check_row(check)}</table>"


def _check_row(check: Check) -> str:
    severity = check.severity.value
    mark = f'<b style="color:{_COLOURS[severity]}">{severity}[{_text(check.rule)}]</b>'
    known = "" if check.safe_when is None else f"<br>safe iff <code>{_text(check.safe_when)}</code>"
    where = "" if check.location is None else check.location.in_words.removeprefix(":")
    cells = (mark, _text(where), f"{_text(check.message)}<br>{_text(check.verdict.value)}{known}")
    return "<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells) + "</tr>"


def memory_html(totals: Sequence[MemoryTotals]) -> str:
    """The totals of each function, each as its table and bars."""
    shown = "".join(map(totals_html, totals[:SHOWN]))
    more = "" if len(totals) <= SHOWN else f"<p>and {len(totals) - SHOWN:,} more functions</p>"
    return shown + more


def totals_html(total: MemoryTotals) -> str:
    """The totals of one function, with a bar for each that is a number."""
    rows = list(_rows(total))
    most = max((size for _, _, size in rows if size is not None), default=0)
    name = ".".join(filter(None, (total.module, total.function)))
    body = "".join(_row(label, text, size, most) for label, text, size in rows)
    return f"<p><b>{_text(name)}</b></p><table>{body}</table>"


def _rows(total: MemoryTotals) -> Iterator[tuple[str, str, int | None]]:
    yield _total(total, "lower bound", "lower_bound", total.lower_bound)
    yield _total(total, "peak live", "peak_live", total.peak_live)
    for name, amount in total.reserved.items():
        yield _total(total, f"reserved, {name}", f"reserved.{name}", amount)
    if total.workspaces is not None and total.workspaces.calls:
        for name, amount in total.workspaces.together.items():
            yield _total(total, f"with workspaces, {name}", f"workspaces.together.{name}", amount)
    yield _total(total, "parameters", "parameters.bytes", total.parameter_bytes)


def _total(total: MemoryTotals, label: str, key: str, amount: Amount | None) -> tuple[str, str, int | None]:
    found = total.over_range.get(key)
    if found is not None:
        at = ", ".join(f"{name} = {value}" for name, value in found.at.items())
        return label, f"at most {bytes_text(found.maximum)}{f', at {at}' if at else ''}", found.maximum
    if amount is None:
        return label, f"not known: {total.unknown.get(key, '')}", None
    if amount.value is None:
        return label, f"{amount.expr} bytes", None
    return label, bytes_text(amount.value), amount.value


def _row(label: str, text: str, size: int | None, most: int) -> str:
    width = 0 if size is None or not most else round(_WIDTH * size / most)
    bar = (
        f'<svg width="{_WIDTH}" height="12" role="img" aria-label="{_text(label)}">'
        f'<rect width="{width}" height="12" fill="#4a78b5"/></svg>'
    )
    cells = (_text(label), bar if size is not None else "", _text(text))
    return "<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells) + "</tr>"


def joined(parts: Iterable[str]) -> str:
    """Parts of a page, one below the other."""
    return "<div>" + "".join(parts) + "</div>"


def _text(text: str) -> str:
    from html import escape

    return escape(printable(text))
