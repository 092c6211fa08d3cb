"""A total over ranges of its symbols: how large it can get, and which formula gives it where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod

import sympy

from relax_lint.results.memory_figures import OverRange, Piece
from relax_lint.settings.memory_request import Binding, MemoryRequest
from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.symbolic.printing import expr_text
from relax_lint.totals.quantities import Indeterminate, Quantity, no_such_size

MAX_POINTS = 1 << 20
"""Assignments that are tried one by one."""


def over_range(total: Quantity, request: MemoryRequest) -> OverRange:
    """The maximum of a total over the ranges of a request. Raises Indeterminate.

    It is exact: every assignment is tried, or the formula is seen to grow with every symbol.
    """
    if isinstance(total, int):
        return OverRange(total, {})
    point = request.point
    total = total.xreplace({s: sympy.Integer(point[s.name]) for s in total.free_symbols if s.name in point})
    symbols = tuple(sorted(total.free_symbols, key=str))
    ranges = {binding.name: binding for binding in request.ranges}
    missing = [symbol.name for symbol in symbols if symbol.name not in ranges]
    if missing:
        raise Indeterminate(f"no value is given for the symbol `{missing[0]}`")
    spans = [ranges[symbol.name] for symbol in symbols]
    if not symbols:
        return OverRange(_number(total), {})
    if prod(span.high - span.low + 1 for span in spans) > MAX_POINTS:
        return _at_the_top(total, symbols, spans)
    if len(symbols) == 1:
        return _along(total, symbols[0], spans[0])
    return _everywhere(total, symbols, spans)


def _number(total: sympy.Expr) -> int:
    try:
        return int(compile_expr(total, ())())
    except ZeroDivisionError:
        raise Indeterminate(f"`{expr_text(total)}` divides by zero") from None


def _at_the_top(total: sympy.Expr, symbols: tuple[sympy.Symbol, ...], spans: Sequence[Binding]) -> OverRange:
    if not grows(total):
        raise Indeterminate(f"there are more than {MAX_POINTS:,} assignments to try")
    top = [span.high for span in spans]
    at = dict(zip((symbol.name for symbol in symbols), top, strict=True))
    return OverRange(compile_expr(total, symbols)(*top), at)


def _everywhere(total: sympy.Expr, symbols: tuple[sympy.Symbol, ...], spans: Sequence[Binding]) -> OverRange:
    value = _valued(compile_expr(total, symbols))
    best = -1
    where: tuple[int, ...] = ()
    for values in product(*(range(span.low, span.high + 1) for span in spans)):
        size = value(*values)
        if size > best:
            best, where = size, values
    if not where:
        raise Indeterminate(_why_none(total, symbols, spans))
    return OverRange(best, dict(zip((symbol.name for symbol in symbols), where, strict=True)))


def _along(total: sympy.Expr, symbol: sympy.Symbol, span: Binding) -> OverRange:
    """One symbol: the alternatives of a maximum take turns."""
    alternatives = total.args if isinstance(total, sympy.Max) else (total,)
    values = [_valued(compile_expr(each, (symbol,))) for each in alternatives]
    turns: list[tuple[int, int]] = []
    best, where, leader = -1, span.low, 0
    for n in range(span.low, span.high + 1):
        sizes = [value(n) for value in values]
        size = max(sizes)
        if size > best:
            best, where = size, n
        if sizes[leader] < size or not turns:
            leader = sizes.index(size)
            turns.append((n, leader))
    if best < 0:
        raise Indeterminate(_why_none(total, (symbol,), (span,)))
    ends = [start - 1 for start, _ in turns[1:]] + [span.high]
    pieces = tuple(
        Piece(start, end, expr_text(alternatives[which]))
        for (start, which), end in zip(turns, ends, strict=True)
    )
    return OverRange(best, {symbol.name: where}, pieces)


def _why_none(total: sympy.Expr, symbols: tuple[sympy.Symbol, ...], spans: Sequence[Binding]) -> str:
    """Why a total does not have a size at any value."""
    try:
        size = compile_expr(total, symbols)(*(span.high for span in spans))
    except ZeroDivisionError:
        return f"`{expr_text(total)}` divides by zero"
    return no_such_size(size)


def _valued(compiled: Callable[..., int]) -> Callable[..., int]:
    """The same, with -1 for an unknown value: sizes are never negative."""

    def value(*values: int) -> int:
        try:
            return compiled(*values)
        except ZeroDivisionError:
            return -1

    return value


def grows(expr: sympy.Expr) -> bool:
    """Whether the expression is seen to grow, or stay, as each of its symbols grows from zero on."""
    if isinstance(expr, sympy.Symbol):
        return True
    if isinstance(expr, sympy.Integer):
        return bool(expr >= 0)
    if isinstance(expr, sympy.Add):
        # A constant that is taken away changes no order.
        return all(grows(part) for part in expr.args if not part.is_Integer)
    if isinstance(expr, FloorDiv):
        return bool(expr.args[1].is_Integer and expr.args[1] > 0 and grows(expr.args[0]))
    if isinstance(expr, sympy.Pow):
        return bool(expr.args[1].is_Integer and expr.args[1] > 0 and isinstance(expr.args[0], sympy.Symbol))
    if isinstance(expr, sympy.Mul):
        # With a negative constant inside, a factor might change sign.
        return all(grows(part) and _never_negative(part) for part in expr.args)
    return isinstance(expr, (sympy.Max, sympy.Min)) and all(grows(part) for part in expr.args)


def _never_negative(expr: sympy.Expr) -> bool:
    """Whether no part of the expression is a negative number."""
    return all(number >= 0 for number in expr.atoms(sympy.Integer))
