"""Totals without a formula over the ranges of their symbols: every value is tried, or limits are told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod

import sympy

from relax_lint.results.memory_figures import Growth, OverRange, SymbolRange
from relax_lint.settings.memory_request import Binding, MemoryRequest
from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.totals.concrete import Concrete
from relax_lint.totals.growth import step_of
from relax_lint.totals.quantities import Quantity
from relax_lint.totals.ranges import grows

MAX_STEPS = 1_000_000
"""Steps of walks that may be followed for the values of a range."""


def tried(
    concrete: Concrete, names: Iterable[str], within: MemoryRequest, limits: Mapping[str, Quantity]
) -> dict[str, OverRange]:
    """The totals of these `names` over the ranges. Where there are too many values to try, the value at the
    end of all ranges and, from the `limits`, what no value exceeds.
    """
    point, spans = within.point, {span.name: span for span in within.ranges}
    named = [symbol.name for symbol in concrete.symbols]
    if any(name not in point and name not in spans for name in named):
        return {}
    own = [spans[name] for name in named if name in spans]
    if not own:
        return {}
    try:
        if prod(span.high - span.low + 1 for span in own) * concrete.steps <= MAX_STEPS:
            return _everywhere(concrete, set(names), point, own)
        return _at_the_end(concrete, set(names), point, own, limits)
    except ZeroDivisionError:
        return {}


def ranges_of(spans: Iterable[Binding]) -> tuple[SymbolRange, ...]:
    """The ranges as the result model has them."""
    return tuple(SymbolRange(span.name, span.low, span.high) for span in spans)


def _everywhere(
    concrete: Concrete, names: set[str], point: Mapping[str, int], spans: Sequence[Binding]
) -> dict[str, OverRange]:
    maxima: dict[str, tuple[int, dict[str, int]]] = {}
    sizes: dict[str, list[int]] = {}
    last: Mapping[str, int] = {}
    for values in product(*(range(span.low, span.high + 1) for span in spans)):
        at = dict(zip((span.name for span in spans), values, strict=True))
        last = concrete.at({**point, **at})
        for name in sorted(names & last.keys()):
            size = last[name]
            sizes.setdefault(name, []).append(size)
            if name not in maxima or size > maxima[name][0]:
                maxima[name] = size, at
    within = ranges_of(spans)
    return {
        name: OverRange(
            size,
            at,
            minimum=min(sizes[name]),
            within=within,
            growth=_growth(sizes[name], spans),
            at_end=last.get(name),
        )
        for name, (size, at) in maxima.items()
    }


def _growth(sizes: Sequence[int], spans: Sequence[Binding]) -> tuple[Growth, ...]:
    step = step_of(sizes) if len(spans) == 1 else None
    return () if step is None or not step[0] else (Growth(spans[0].name, *step),)


def _at_the_end(
    concrete: Concrete,
    names: set[str],
    point: Mapping[str, int],
    spans: Sequence[Binding],
    limits: Mapping[str, Quantity],
) -> dict[str, OverRange]:
    top = {span.name: span.high for span in spans}
    end = concrete.at({**point, **top})
    found = {}
    for name in sorted(names & end.keys() & limits.keys()):
        most = _at(limits[name], {**point, **top})
        if most is not None:
            found[name] = OverRange(most, top, within=ranges_of(spans), at_end=end[name], is_limit=True)
    return found


def _at(limit: Quantity, values: Mapping[str, int]) -> int | None:
    """The limit at the end of the ranges, where it grows up to there."""
    limit = sympy.sympify(limit)
    if not grows(limit):
        return None
    symbols = tuple(sorted(limit.free_symbols, key=str))
    if any(symbol.name not in values for symbol in symbols):
        return None
    return compile_expr(limit, symbols)(*(values[symbol.name] for symbol in symbols))
