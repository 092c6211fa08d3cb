"""Totals under the bounds that a function declares or that are assumed: numbers in place of formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import lcm

import sympy

from relax_lint.model.program import Function
from relax_lint.results.memory_figures import Growth, OverRange
from relax_lint.settings.memory_request import Binding, MemoryRequest
from relax_lint.symbolic.domain import FactKind
from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.totals.cases import most_of_cases
from relax_lint.totals.growth import growth_of, step_of, without_coincidences
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.ranges import grows, over_range
from relax_lint.totals.tried import ranges_of

MAX_TRIED = 1 << 12
"""Assignments within declared bounds that are tried one by one, for each total."""
_MAX_PERIOD = 1 << 12


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
    if found is None:
        found = _limit(total, ranges, spans)
    if found is None or all(symbol.name in asked.point for symbol in total.free_symbols):
        return found
    return _described(found, total, ranges, spans)


def _declared(function: Function) -> Iterator[Binding]:
    # The declared bounds are among the facts, and so is what the configuration assumes.
    stated = [fact.condition for fact in function.facts if fact.kind is FactKind.ASSUMED]
    limits = [one for one in stated if isinstance(one, (sympy.Le, sympy.Ge)) and one.rhs.is_Integer]
    for info in function.symbols:
        own = [one for one in limits if one.lhs == info.symbol]
        lows = [0, *(int(one.rhs) for one in own if isinstance(one, sympy.Ge))]
        highs = [int(one.rhs) for one in own if isinstance(one, sympy.Le)]
        if highs and max(lows) <= min(highs):
            yield Binding(info.symbol.name, max(lows), min(highs))


def _is_small(spans: Sequence[Binding]) -> bool:
    tried = 1
    for span in spans:
        tried *= span.high - span.low + 1
    return tried <= MAX_TRIED


def _at_the_top(total: sympy.Expr, ranges: MemoryRequest, spans: Sequence[Binding]) -> OverRange | None:
    reduced = total.xreplace(
        {s: sympy.Integer(ranges.point[s.name]) for s in total.free_symbols if s.name in ranges.point}
    )
    if grows(reduced):
        top = {span.name: span.high for span in spans}
        symbols = tuple(sorted(reduced.free_symbols, key=str))
        return OverRange(compile_expr(reduced, symbols)(*(top[s.name] for s in symbols)), top)
    return _partly_tried(reduced, spans)


def _limit(total: sympy.Expr, ranges: MemoryRequest, spans: Sequence[Binding]) -> OverRange | None:
    """Where the symbols choose branches, and too much would have to be tried: no case exceeds the most that
    any of them takes at the end of the ranges.
    """
    most = most_of_cases(total)
    found = None if most == total else _at_the_top(most, ranges, spans)
    top = {span.name: span.high for span in spans}
    return None if found is None else OverRange(found.maximum, top, is_limit=True)


def _partly_tried(total: sympy.Expr, spans: Sequence[Binding]) -> OverRange | None:
    """Where the total grows with every symbol but the one that divides something, whose values are tried."""
    divisors = {str(s) for d in total.atoms(FloorDiv) for s in d.args[1].free_symbols}
    chosen = [span for span in spans if span.name in divisors]
    if len(chosen) != 1 or not _is_small(chosen):
        return None
    (span,) = chosen
    (symbol,) = (each for each in total.free_symbols if each.name == span.name)
    rest = [each for each in spans if each is not span]
    top = {each.name: each.high for each in rest}
    best: OverRange | None = None
    # Nothing can be divided by 0: a call with that value ends with an error.
    for value in range(max(span.low, 1), span.high + 1):
        there = total.xreplace({symbol: sympy.Integer(value)})
        if not grows(there):
            return None
        symbols = tuple(sorted(there.free_symbols, key=str))
        size = compile_expr(there, symbols)(*(top[each.name] for each in symbols))
        if best is None or size > best.maximum:
            best = OverRange(size, {**top, span.name: value})
    return best


def _described(
    found: OverRange, total: sympy.Expr, ranges: MemoryRequest, spans: Sequence[Binding]
) -> OverRange:
    """With the least value, the value at the end of the ranges and the growth along each symbol, the others
    being where the maximum is.
    """
    fixed = [each for each in ranges.bindings if each.name in _names(total) and not each.is_range]
    within = ranges_of([*spans, *fixed])
    if not found.at:
        return replace(found, minimum=found.maximum, within=within, at_end=found.maximum)
    at = {**ranges.point, **found.at}
    growth: list[Growth] = []
    least = found.maximum if len(spans) == 1 else None
    for span in spans:
        value = _along(total, span.name, at)
        try:
            values = None if span.high - span.low >= 1 << 16 else list(map(value, _values(span)))
            if len(spans) == 1:
                least = None if values is None else min(values)
            growth += _growth(total, span, at, value, values)
        except ZeroDivisionError:
            least = None
    end = _at_end(total, {**ranges.point, **{span.name: span.high for span in spans}})
    return replace(found, minimum=least, within=within, growth=tuple(growth), at_end=end)


def _names(total: sympy.Expr) -> set[str]:
    return {symbol.name for symbol in total.free_symbols}


def _values(span: Binding) -> range:
    return range(span.low, span.high + 1)


def _at_end(total: sympy.Expr, at: dict[str, int]) -> int | None:
    symbols = tuple(sorted(total.free_symbols, key=str))
    try:
        return compile_expr(total, symbols)(*(at[symbol.name] for symbol in symbols))
    except ZeroDivisionError:
        return None


def _growth(
    total: sympy.Expr,
    span: Binding,
    at: dict[str, int],
    value: Callable[[int], int],
    values: Sequence[int] | None,
) -> Iterator[Growth]:
    """One step everywhere, else everywhere but where sizes coincide, else that at the end of the range."""
    reduced = _only(total, span.name, at)
    symbols = [symbol for symbol in reduced.free_symbols if symbol.name == span.name]
    if not symbols:
        return
    step = growth_of(reduced, symbols[0]) or (None if values is None else step_of(values, _divisors(total)))
    apart = None if step is not None else growth_of(without_coincidences(reduced), symbols[0])
    found, most = step or apart, span.high - span.low
    if found is None:
        units = _period(total)
        if units > most:
            return
        more = value(span.high) - value(span.high - units)
        if more > 0:
            yield Growth(span.name, more, units, up_to=span.high)
    elif found[0] and found[1] <= most:
        yield Growth(span.name, *found, apart=apart is not None)


def _period(total: sympy.Expr) -> int:
    """Units after which whole pages and other roundings are complete."""
    period = lcm(*_divisors(total))
    return period if period <= _MAX_PERIOD else 1


def _divisors(total: sympy.Expr) -> set[int]:
    return {int(d.args[1]) for d in total.atoms(FloorDiv) if d.args[1].is_Integer and d.args[1] > 0}


def _only(total: sympy.Expr, name: str, at: dict[str, int]) -> sympy.Expr:
    """The total with every symbol but one at its value."""
    return total.xreplace({s: sympy.Integer(at[s.name]) for s in total.free_symbols if s.name != name})


def _along(total: sympy.Expr, name: str, at: dict[str, int]) -> Callable[[int], int]:
    """The total as a function of one symbol."""
    reduced = _only(total, name, at)
    compiled = compile_expr(reduced, tuple(reduced.free_symbols)) if reduced.free_symbols else None
    return lambda n: int(reduced) if compiled is None else compiled(n)
