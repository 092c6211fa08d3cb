"""What it takes to serve a module, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from relax_lint.output.style import Style
from relax_lint.output.tables import table
from relax_lint.support.byte_text import bytes_text
from relax_lint.support.escaping import printable
from relax_lint.totals.serving import Frontier, Serving


def serving_lines(found: Iterable[Serving], style: Style) -> Iterator[str]:
    """A table for each module."""
    for one in found:
        name = f"{printable(one.module)} " if one.module else ""
        head = f"serving {name}({printable(one.path)}) on {bytes_text(one.device_memory)}"
        yield style.paint("strong", head)
        yield from table(list(_rows(one)), right=False)


def _rows(one: Serving) -> Iterator[tuple[str, str]]:
    if one.left is not None:
        function = f"of `{printable(one.function)}`"
        yield "weights, inputs", f"{bytes_text(one.parameters or 0)} {function}"
        yield "at work", f"{bytes_text(one.working or 0)} {function}, the function that needs most"
        yield "objects", f"{bytes_text(one.objects or 0)} of caches and states"
        yield ("left", bytes_text(one.left)) if one.left >= 0 else ("over by", bytes_text(-one.left))
    for name in one.missing:
        yield "no value for", f"`{printable(name)}`: give one with --bind"
    for name, value in one.largest.items():
        others = [f"{printable(k)} = {v}" for k, v in one.values.items() if k != name]
        at = f" at {', '.join(others)}" if others else ""
        fits = "nothing fits" if value is None else f"{value:,} fits"
        if value is not None and value == one.bounds.get(name):
            fits = f"every value up to its bound, {value:,}, fits"
        yield f"largest {printable(name)}", f"{fits}{at}"
    if one.frontier is not None:
        yield from _frontier(one.frontier)
    for reason in one.reasons:
        yield "not counted", printable(reason)


def _frontier(frontier: Frontier) -> Iterator[tuple[str, str]]:
    """How far the context can go, for each size of the batch."""
    yield f"{printable(frontier.of)} by", f"{printable(frontier.at)}"
    for point in frontier.points:
        most = "nothing fits" if point.largest is None else f"up to {point.largest:,}"
        yield "", f"{point.at:>7,}: {most}"
