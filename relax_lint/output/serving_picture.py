"""The serving frontier as a picture: a section of the HTML report without any script."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator

from relax_lint.support.byte_text import bytes_text
from relax_lint.support.escaping import printable
from relax_lint.totals.serving import Frontier, Serving

_WIDTH, _HEIGHT, _LEFT, _GAP = 640, 22, 120, 6


def serving_sections(found: Iterable[Serving]) -> str:
    """A section for each module that has a frontier; nothing for the others."""
    return "".join(_section(one, one.frontier) for one in found if one.frontier is not None)


def _section(one: Serving, frontier: Frontier) -> str:
    name = printable(one.module or one.path)
    memory = bytes_text(one.device_memory)
    title = f"Largest {printable(frontier.of)} by {printable(frontier.at)}: {name} on {memory}"
    rows = list(_bars(frontier))
    height = len(rows) * (_HEIGHT + _GAP)
    return (
        f"<section><h2>{html.escape(title)}</h2>"
        f'<svg viewBox="0 0 {_WIDTH + _LEFT} {height}" width="{_WIDTH + _LEFT}" height="{height}" role="img"'
        f' aria-label="{html.escape(title)}" font-size="13"'
        f' fill="currentColor">{"".join(rows)}</svg></section>'
    )


def _bars(frontier: Frontier) -> Iterator[str]:
    """A bar and its number for each point: colours carry no meaning."""
    most = max((point.largest or 0 for point in frontier.points), default=0)
    for row, point in enumerate(frontier.points):
        top = row * (_HEIGHT + _GAP)
        label = "nothing fits" if point.largest is None else f"{point.largest:,}"
        width = 0 if not most else round((_WIDTH - 120) * (point.largest or 0) / most)
        middle = top + 2 * _HEIGHT // 3
        yield f'<text x="{_LEFT - 8}" y="{middle}" text-anchor="end">{point.at:,}</text>'
        yield f'<rect x="{_LEFT}" y="{top}" width="{width}" height="{_HEIGHT}" fill="#4a78b5"/>'
        yield f'<text x="{_LEFT + width + 6}" y="{middle}">{label}</text>'
