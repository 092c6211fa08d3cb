"""The memory of each function as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from relax_lint.output.amounts import amount_text, range_text
from relax_lint.output.memory_why import why_rows
from relax_lint.output.memory_workspaces import packed_rows, workspace_rows
from relax_lint.output.style import Style
from relax_lint.output.tables import count, table
from relax_lint.results.memory_figures import AT_VALUES, OVER_RANGE, Amount, MemoryTotals, OverRange, Piece
from relax_lint.support.byte_text import bytes_text
from relax_lint.support.escaping import printable
from relax_lint.support.lazy_dataclass import dataclass

_PIECES_SHOWN = 12
_NO_BYTES = bytes_text(0)


def memory_lines(
    totals: Iterable[MemoryTotals],
    allocators: Sequence[str],
    style: Style,
    *,
    full: bool = False,
    formulas: bool = False,
) -> Iterator[str]:
    """What each function needs, in bytes; `full` adds parameters, constants, the lower bound and, where there
    are several, scopes and devices. Where values or bounds of the symbols are known there are numbers, with
    the `formulas` beside them where these are wanted.
    """
    for total in totals:
        name = ".".join(filter(None, (total.module, total.function)))
        yield style.paint("strong", f"memory of {printable(name)} ({printable(total.path)})")
        figures = _Figures(total, formulas)
        further = _all_further(figures, allocators) if full else ()
        yield from table([*_rows(figures, allocators), *further], right=False)


@dataclass(frozen=True)
class _Figures:
    """The totals of one function as text."""

    total: MemoryTotals
    formulas: bool

    def text(self, amount: Amount | None, key: str = "", *, brief: bool = False) -> str:
        """A total: its maximum where there is a range, else its value or its formula; if `brief` without how
        it grows.
        """
        found = self.total.over_range.get(key)
        if found is not None and (found.at or found.within):
            return range_text(found, brief=brief)
        limit = self.total.at_most.get(key)
        if amount is None and limit is not None:
            return f"at most {amount_text(limit, formulas=self.formulas)}"
        return amount_text(amount, self.total.unknown.get(key, ""), formulas=self.formulas)

    def most(self, amount: Amount | None, key: str) -> int:
        """The largest value of a total; -1 where it is not known."""
        found = self.total.over_range.get(key)
        if found is not None:
            return found.maximum
        return -1 if amount is None or amount.value is None else amount.value

    def rows(self, label: str, key: str, amount: Amount | None) -> Iterator[tuple[str, str]]:
        """A total, and below it the formulas."""
        yield label, self.text(amount, key)
        found = self.total.over_range.get(key)
        for what, behind in (("maximum", OVER_RANGE), ("value", AT_VALUES)):
            if (why := self.total.unknown.get(f"{key}{behind}")) is not None:
                yield "", f"its {what} is unknown: {printable(why)}"
        if found is None or not found.at or not self.formulas:
            return
        if amount is not None:
            yield "", f"{printable(amount.expr)} bytes"
        yield from _pieces(found)


def _all_further(figures: _Figures, allocators: Sequence[str]) -> Iterator[tuple[str, str]]:
    total = figures.total
    yield from _repeated(figures, allocators)
    if total.workspaces is not None:
        yield from workspace_rows(total.workspaces, figures.text, figures.most, allocators)
    if total.packed is not None:
        yield from packed_rows(total.packed, figures.text)
    yield from _inputs(figures)
    yield from _further(figures)
    if total.why is not None:
        yield from why_rows(total.why)


def _rows(figures: _Figures, allocators: Sequence[str]) -> Iterator[tuple[str, str]]:
    total, why = figures.total, figures.total.unknown
    yield (
        "sum of tensors",
        _part(
            total.unplanned_static_bytes,
            total.unplanned_static_count,
            "tensor",
            total.unplanned_dynamic_count,
            figures.text(total.unplanned_dynamic_bytes, "unplanned.dynamic_bytes"),
        ),
    )
    yield (
        "planned",
        _part(
            total.planned_static_bytes,
            total.planned_static_count,
            "storage",
            total.planned_dynamic_count,
            figures.text(total.planned_dynamic_bytes, "planned.dynamic_bytes"),
        ),
    )
    if total.peak_live is not None or "peak_live" in why:
        yield from figures.rows("peak live", "peak_live", total.peak_live)
    for name in allocators:
        if name in total.reserved:
            yield from figures.rows(f"reserved, {name}", f"reserved.{name}", total.reserved[name])


def _repeated(figures: _Figures, allocators: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Where it differs from one call."""
    for name in allocators:
        amount = figures.total.repeated.get(name)
        if amount is not None and amount != figures.total.reserved.get(name):
            yield from figures.rows(f"repeated calls, {name}", f"repeated.{name}", amount)


def _inputs(figures: _Figures) -> Iterator[tuple[str, str]]:
    total = figures.total
    for label, key, number, amount in (
        ("parameters", "parameter", total.parameter_count, total.parameter_bytes),
        ("constants", "constant", total.constant_count, total.constant_bytes),
    ):
        if number:
            text = figures.text(amount, f"{label}.bytes")
            where = count(number, key)
            yield label, f"{where}: {text}" if ", at " in text else f"{text} in {where}"


def _further(figures: _Figures) -> Iterator[tuple[str, str]]:
    total = figures.total
    if total.peak_at is not None:
        place = total.peak_at.location
        where = "" if place is None else f", {place.line_in_words}"
        yield "peak reached at", f"`{printable(total.peak_at.binding)}`{where}"
    if total.lower_bound is not None or "lower_bound" in total.unknown:
        yield from figures.rows("lower bound", "lower_bound", total.lower_bound)
    for word, groups in (("scope", total.by_scope), ("device", total.by_device)):
        for name, amount in groups.items() if len(groups) > 1 else ():
            yield f"{word} {printable(name)}", figures.text(amount, f"by_{word}.{name}")


def _pieces(found: OverRange) -> Iterator[tuple[str, str]]:
    """The formulas that take turns along one symbol."""
    (symbol, *others) = found.at
    if others or len(found.pieces) < 2:
        return
    for piece in found.pieces[:_PIECES_SHOWN]:
        yield "", f"{printable(symbol)} = {_span(piece)}: {printable(piece.expr)} bytes"
    if len(found.pieces) > _PIECES_SHOWN:
        yield "", f"and {len(found.pieces) - _PIECES_SHOWN:,} more changes of the formula"


def _span(piece: Piece) -> str:
    return str(piece.low) if piece.low == piece.high else f"{piece.low}..{piece.high}"


def _part(static: int, statics: int, noun: str, dynamics: int, dynamic: str) -> str:
    if not statics and not dynamics and dynamic != _NO_BYTES:
        return dynamic
    parts = []
    if statics or not dynamics:
        parts.append(f"{bytes_text(static)} in {count(statics, noun)}")
    if dynamics:
        where = f"{count(dynamics, noun)} of symbolic size"
        parts.append(f"{where}: {dynamic}" if ", at " in dynamic else f"{dynamic} in {where}")
    return ", ".join(parts)
