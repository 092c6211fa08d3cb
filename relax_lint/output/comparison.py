"""What grew since an earlier report, as text."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from relax_lint.output.style import Style
from relax_lint.output.tables import table
from relax_lint.support.byte_text import bytes_text
from relax_lint.support.escaping import printable
from relax_lint.totals.comparison import MAXIMUM, NOT_KNOWN

if TYPE_CHECKING:
    from relax_lint.totals.comparison import Change, Comparison

_TITLES = {
    "tensors": "sum of tensors",
    "planned": "planned",
    "peak_live": "peak live",
    "reserved.naive": "reserved, naive",
    "reserved.pooled": "reserved, pooled",
    "repeated.naive": "repeated calls, naive",
    "repeated.pooled": "repeated calls, pooled",
    "lower_bound": "lower bound",
    "workspaces.held": "kernel workspaces",
    "workspaces.together.naive": "with workspaces, naive",
    "workspaces.together.pooled": "with workspaces, pooled",
    "packed.device": "packed functions",
    "packed.host": "packed functions, host",
    "parameters": "parameters",
    "constants": "constants",
}


def comparison_lines(comparison: Comparison, style: Style) -> Iterator[str]:
    """Every total that changed, by function, and the functions that came or went."""
    yield style.paint("strong", f"compared with {printable(comparison.path)}")
    previous = None
    rows: list[tuple[str, ...]] = []
    for change in comparison.changes:
        if change.subject != previous:
            yield from _flush(rows)
            yield f"  {printable(str(change.subject))}"
            previous = change.subject
        rows.append(_row(change, comparison.limit))
    yield from _flush(rows)
    yield from (f"  new: {printable(str(subject))}" for subject in comparison.added)
    yield from (f"  gone: {printable(str(subject))}" for subject in comparison.removed)
    if not (comparison.changes or comparison.added or comparison.removed):
        yield "  no total has changed"


def _flush(rows: list[tuple[str, ...]]) -> Iterator[str]:
    if rows:
        yield from (f"  {line}" for line in table(rows, right=False))
        rows.clear()


def _row(change: Change, limit: Fraction | None) -> tuple[str, ...]:
    remark = ""
    if change.exceeds:
        allowed = _percent(limit or Fraction(0)).lstrip("+")
        grew = "grew" if isinstance(change.new, int) and isinstance(change.old, int) else "may grow"
        remark = f"{grew} by more than {allowed}"
    growth = "" if change.growth is None else _percent(change.growth)
    title = _TITLES[change.total.removesuffix(MAXIMUM)]
    if change.total.endswith(MAXIMUM):
        title = f"{title}, at most"
    return title, f"{_size(change.old)} -> {_size(change.new)}", growth, remark


def _size(size: int | str) -> str:
    if isinstance(size, int):
        return bytes_text(size)
    return size if size == NOT_KNOWN else f"{printable(size)} bytes"


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):+.3g} %"
