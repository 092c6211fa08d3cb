"""The memory of each function as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from relax_lint.output.amounts import amount_text
from relax_lint.output.memory_workspaces import packed_rows, workspace_rows
from relax_lint.output.style import Style
from relax_lint.output.tables import count, table
from relax_lint.results.memory_figures import MemoryTotals, OverRange, Piece
from relax_lint.support.byte_text import bytes_text
from relax_lint.support.escaping import printable

_PIECES_SHOWN = 12


def memory_lines(
    totals: Iterable[MemoryTotals], allocators: Sequence[str], style: Style, *, full: bool = False
) -> Iterator[str]:
    """What each function needs, in bytes; `full` adds parameters, constants, the lower bound and, where there
    are several, scopes and devices.
    """
    for total in totals:
        name = ".".join(filter(None, (total.module, total.function)))
        yield style.paint("strong", f"memory of {printable(name)} ({printable(total.path)})")
        further = _all_further(total, allocators) if full else ()
        yield from table([*_rows(total, allocators), *further], right=False)


def _all_further(total: MemoryTotals, allocators: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield from _repeated(total, allocators)
    if total.workspaces is not None:
        yield from workspace_rows(total.workspaces, total.unknown, allocators)
    if total.packed is not None:
        yield from packed_rows(total.packed)
    yield from _inputs(total)
    yield from _further(total)


def _rows(total: MemoryTotals, allocators: Sequence[str]) -> Iterator[tuple[str, str]]:
    why = total.unknown
    yield (
        "sum of tensors",
        _part(
            total.unplanned_static_bytes,
            total.unplanned_static_count,
            "tensor",
            total.unplanned_dynamic_count,
            amount_text(total.unplanned_dynamic_bytes, why.get("unplanned.dynamic_bytes", "")),
        ),
    )
    yield (
        "planned",
        _part(
            total.planned_static_bytes,
            total.planned_static_count,
            "storage",
            total.planned_dynamic_count,
            amount_text(total.planned_dynamic_bytes, why.get("planned.dynamic_bytes", "")),
        ),
    )
    largest = {
        "peak live": ("peak_live", total.peak_live),
        **{
            f"reserved, {name}": (f"reserved.{name}", total.reserved[name])
            for name in allocators
            if name in total.reserved
        },
    }
    for label, (key, amount) in largest.items():
        if key == "peak_live" and amount is None and key not in why:
            continue
        yield label, amount_text(amount, why.get(key, ""))
        yield from _over_range(total.over_range.get(key), why, key)


def _repeated(total: MemoryTotals, allocators: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Where it differs from one call."""
    for name in allocators:
        amount = total.repeated.get(name)
        if amount is not None and amount != total.reserved.get(name):
            yield f"repeated calls, {name}", amount_text(amount)


def _inputs(total: MemoryTotals) -> Iterator[tuple[str, str]]:
    why = total.unknown
    for label, key, number, amount in (
        ("parameters", "parameter", total.parameter_count, total.parameter_bytes),
        ("constants", "constant", total.constant_count, total.constant_bytes),
    ):
        if number:
            yield label, f"{amount_text(amount, why.get(f'{label}.bytes', ''))} in {count(number, key)}"


def _further(total: MemoryTotals) -> Iterator[tuple[str, str]]:
    if total.peak_at is not None:
        place = total.peak_at.location
        where = "" if place is None else f", line {place.line}"
        yield "peak reached at", f"`{printable(total.peak_at.binding)}`{where}"
    if total.lower_bound is not None or "lower_bound" in total.unknown:
        yield "lower bound", amount_text(total.lower_bound, total.unknown.get("lower_bound", ""))
    for word, groups in (("scope", total.by_scope), ("device", total.by_device)):
        for name, amount in groups.items() if len(groups) > 1 else ():
            yield f"{word} {printable(name)}", amount_text(amount)


def _over_range(found: OverRange | None, why: Mapping[str, str], key: str) -> Iterator[tuple[str, str]]:
    reason = why.get(f"{key} over the range")
    if reason is not None:
        yield "", f"its maximum is unknown: {printable(reason)}"
    if found is None or not found.at:
        return
    at = ", ".join(f"{printable(name)} = {value}" for name, value in found.at.items())
    yield "", f"at most {bytes_text(found.maximum)}, at {at}"
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
    parts = []
    if statics or not dynamics:
        parts.append(f"{bytes_text(static)} in {count(statics, noun)}")
    if dynamics:
        parts.append(f"{dynamic} in {count(dynamics, noun)} of symbolic size")
    return ", ".join(parts)
