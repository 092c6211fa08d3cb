"""Totals under the bounds that a function declares or that are assumed: numbers in place of formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import sympy

from relax_lint.model.program import BoundKind, Function
from relax_lint.results.memory_figures import Growth, OverRange, SymbolRange
from relax_lint.settings.memory_request import Binding, MemoryRequest
from relax_lint.symbolic.domain import FactKind
from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.ranges import grows, over_range

MAX_TRIED = 1 << 12
"""Assignments within declared bounds that are tried one by one, for each total."""
_STEPS = tuple(1 << power for power in range(13))


def with_bounds(function: Function, request: MemoryRequest) -> MemoryRequest:
    """The request with a range for each symbol that has none and is bounded above."""
    asked = {binding.name for binding in request.bindings}
    declared = [bound for bound in _declared(function) if bound.name not in asked]
    return replace(request, bindings=(*request.bindings, *declared))


def bounded(total: Quantity, asked: MemoryRequest, ranges: MemoryRequest) -> OverRange | None:
    """The maximum of a total over the `ranges`, where it is reached, and how it grows. None where only
    declared bounds give ranges and too much would have to be tried. Raises Indeterminate where a range that
    was `asked` for cannot be covered.
    """
    if isinstance(total, int):
        return None if not asked.ranges else OverRange(total, {})
    names = {symbol.name for symbol in total.free_symbols} - ranges.point.keys()
    spans = [span for span in ranges.ranges if span.name in names]
    if len(spans) < len(names):
        if asked.ranges:
            missing = min(names - {span.name for span in spans})
            raise Indeterminate(f"no value is given for the symbol `{missing}`")
        return None
    requested = all(span in asked.ranges for span in spans)
    found = over_range(total, ranges) if requested or _is_small(spans) else _at_the_top(total, ranges, spans)
    return None if found is None else _described(found, total, ranges, spans)


def _declared(function: Function) -> Iterator[Binding]:
    for info in function.symbols:
        symbol = info.symbol
        lows: list[int] = [0]
        highs: list[int] = []
        for bound in function.bounds:
            if bound.symbol == symbol and bound.value is not None:
                (highs if bound.kind is BoundKind.UPPER else lows).append(bound.value)
        for fact in function.facts:
            limit = fact.condition
            if fact.kind is not FactKind.ASSUMED or not isinstance(limit, (sympy.Le, sympy.Ge)):
                continue
            if limit.lhs == symbol and limit.rhs.is_Integer:
                (highs if isinstance(limit, sympy.Le) else lows).append(int(limit.rhs))
        if highs and max(lows) < min(highs):
            yield Binding(symbol.name, max(lows), min(highs))


def _is_small(spans: Sequence[Binding]) -> bool:
    tried = 1
    for span in spans:
        tried *= span.high - span.low + 1
    return tried <= MAX_TRIED


def _at_the_top(total: sympy.Expr, ranges: MemoryRequest, spans: Sequence[Binding]) -> OverRange | None:
    reduced = total.xreplace(
        {s: sympy.Integer(ranges.point[s.name]) for s in total.free_symbols if s.name in ranges.point}
    )
    if not grows(reduced):
        return None
    top = {span.name: span.high for span in spans}
    symbols = tuple(sorted(reduced.free_symbols, key=str))
    return OverRange(compile_expr(reduced, symbols)(*(top[s.name] for s in symbols)), top)


def _described(
    found: OverRange, total: sympy.Expr, ranges: MemoryRequest, spans: Sequence[Binding]
) -> OverRange:
    """With the least value and the growth along each symbol, the others being where the maximum is."""
    if not found.at:
        return found
    at = {**ranges.point, **found.at}
    growth, least = [], found.maximum if len(spans) == 1 else None
    for span in spans:
        value = _along(total, span.name, at)
        number = span.high - span.low + 1
        if number > 1 << 16:
            least = None
            continue
        try:
            values = [value(n) for n in range(span.low, span.high + 1)]
        except ZeroDivisionError:
            return found
        if len(spans) == 1:
            least = min(values)
        step = _step(values, total)
        if step is not None and step[0]:
            growth.append(Growth(span.name, *step))
    within = tuple(SymbolRange(span.name, span.low, span.high) for span in spans)
    return replace(found, minimum=least, within=within, growth=tuple(growth))


def _along(total: sympy.Expr, name: str, at: dict[str, int]) -> Callable[[int], int]:
    """The total as a function of one symbol."""
    (symbol,) = (each for each in total.free_symbols if each.name == name)
    others = {s: sympy.Integer(at[s.name]) for s in total.free_symbols if s is not symbol}
    reduced = total.xreplace(others)
    compiled = compile_expr(reduced, (symbol,)) if reduced.free_symbols else None
    return lambda n: int(reduced) if compiled is None else compiled(n)


def _step(values: Sequence[int], total: sympy.Expr) -> tuple[int, int] | None:
    """Bytes, and the number of units that add so much wherever one starts; None where there is none."""
    divisors = {int(division.args[1]) for division in total.atoms(FloorDiv) if division.args[1].is_Integer}
    for units in sorted({*_STEPS, *divisors}):
        if 2 * units > len(values):
            return None
        more = values[units] - values[0]
        if all(after - before == more for before, after in zip(values, values[units:], strict=False)):
            return more, units
    return None
