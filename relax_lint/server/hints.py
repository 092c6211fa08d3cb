"""What the editor shows between the lines of a text: inlay hints and code lenses."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from relax_lint.output.finding import safe_region
from relax_lint.results.location import Location
from relax_lint.results.memory_figures import Amount, MemoryTotals
from relax_lint.server.messages import DocumentResult
from relax_lint.support.escaping import printable

REPORT = "relax-lint.memoryReport"
"""The command that opens the memory report of a document."""

_LONGEST = 60


def inlay_hints(judged: DocumentResult, where: types.Range) -> Iterator[types.InlayHint]:
    """The bytes of each allocation and the safe region of each finding, at the end of what they are about."""
    texts: dict[Location, list[str]] = {}
    for location, size in _sizes(judged):
        texts.setdefault(location, []).append(size)
    for check in judged.findings:
        region = safe_region(check)
        if check.location is not None and region:
            texts.setdefault(check.location, []).append(region)
    for location, found in sorted(texts.items(), key=lambda item: (item[0].line, item[0].column)):
        position = judged.ruler.range(location).end
        if where.start <= position <= where.end:
            label = printable("; ".join(dict.fromkeys(found)))
            yield types.InlayHint(position, _shortened(label), padding_left=True, tooltip=label)


def code_lenses(judged: DocumentResult) -> Iterator[types.CodeLens]:
    """The peak of each function above its first line, with the command that opens the report."""
    for totals in judged.memory:
        line = _head_of(totals, judged)
        if line is None:
            continue
        here = types.Position(line - 1, 0)
        title = f"memory: {_peak(totals)}"
        yield types.CodeLens(types.Range(here, here), types.Command(title, REPORT, arguments=[judged.uri]))


def _sizes(judged: DocumentResult) -> Iterator[tuple[Location, str]]:
    places = {
        (check.module, check.function, check.binding): check.location
        for check in judged.checks
        if check.location is not None and check.binding is not None
    }
    for totals in judged.memory:
        for timeline in totals.timelines:
            named = [(tenure.name, tenure.size) for tenure in timeline.storages]
            named += [(one.name, one.size) for tenure in timeline.storages for one in tenure.residents]
            for name, size in named:
                location = places.get((totals.module, totals.function, name))
                if location is not None:
                    yield location, _bytes(timeline.formulas[size])


def _head_of(totals: MemoryTotals, judged: DocumentResult) -> int | None:
    """The line of the `def` of a function, else of its first operation."""
    lines = [
        check.location.line
        for check in judged.checks
        if (check.module, check.function) == (totals.module, totals.function) and check.location is not None
    ]
    if not lines:
        return None
    first = min(lines)
    for number in range(first, 0, -1):
        if judged.ruler.lines[number - 1].lstrip().startswith(f"def {totals.function}("):
            return number
    return first


def _peak(totals: MemoryTotals) -> str:
    peak: Amount | None = totals.peak_live
    if peak is None:
        return "report"
    return f"peak live {_shortened(printable(_bytes(peak.expr)))}"


def _bytes(formula: str) -> str:
    return f"{int(formula):,} bytes" if formula.isdecimal() else f"{formula} bytes"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
