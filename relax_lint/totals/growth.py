"""How much a total grows with a symbol, seen from its formula."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm

import sympy

from relax_lint.symbolic.functions import FloorDiv, Select

_STEPS = tuple(1 << power for power in range(13))


def growth_of(total: sympy.Expr, symbol: sympy.Symbol) -> tuple[int, int] | None:
    """Bytes, and the number of units of a symbol that add so much wherever one starts; None where there is
    no such step.
    """
    found = _slope(total, symbol)
    if found is None:
        return None
    slope, period = found
    more = slope * period
    return (int(more), period) if more.denominator == 1 else None


def step_of(values: Sequence[int], divisors: Iterable[int] = ()) -> tuple[int, int] | None:
    """The same, of the values of a total at consecutive values of a symbol."""
    for units in sorted({*_STEPS, *divisors}):
        if 2 * units > len(values):
            return None
        more = values[units] - values[0]
        if all(after - before == more for before, after in zip(values, values[units:], strict=False)):
            return more, units
    return None


def without_coincidences(total: sympy.Expr) -> sympy.Expr:
    """The total as if no size ever happened to equal another one."""
    return total.replace(Select, lambda *parts: parts[-1] if parts[-1] == 0 else Select(*parts))


def _slope(expr: sympy.Expr, symbol: sympy.Symbol) -> tuple[Fraction, int] | None:
    """The slope, and after how many units the expression has grown by exactly that much for each."""
    if symbol not in expr.free_symbols:
        return Fraction(0), 1
    if expr == symbol:
        return Fraction(1), 1
    if isinstance(expr, sympy.Add):
        parts = [_slope(part, symbol) for part in expr.args]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return sum((slope for slope, _ in known), Fraction(0)), lcm(*(period for _, period in known))
    if isinstance(expr, sympy.Mul):
        return _scaled(expr, symbol)
    if isinstance(expr, FloorDiv) and expr.args[1].is_Integer and expr.args[1] > 0:
        inner, divisor = _slope(expr.args[0], symbol), int(expr.args[1])
        if inner is None:
            return None
        slope, period = inner
        # After so many periods the dividend has grown by whole divisors.
        more = int(slope * period)
        times = divisor // sympy.igcd(divisor, more) if more else 1
        return slope / divisor, period * int(times)
    return None


def _scaled(expr: sympy.Mul, symbol: sympy.Symbol) -> tuple[Fraction, int] | None:
    factors = [part for part in expr.args if symbol in part.free_symbols]
    others = sympy.Mul(*(part for part in expr.args if symbol not in part.free_symbols))
    if len(factors) != 1 or not others.is_Integer:
        return None
    inner = _slope(factors[0], symbol)
    return None if inner is None else (inner[0] * int(others), inner[1])
