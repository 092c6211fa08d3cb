"""Which values of one symbol keep to a budget: from limits first, from exact totals between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.evaluation import compile_condition, compile_expr
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.pool_limits import PoolLimits
from relax_lint.totals.quantities import Quantity
from relax_lint.totals.ranges import grows

MAX_MEASURED = 24
"""Values between the limits for which a whole function is measured."""
MAX_STEPS = 2_000_000
"""Steps of a walk that may be followed for the values between the limits."""
MAX_SHOWN = 4
"""Intervals that a sentence lists."""
MAX_TRIED = 1 << 16


@record(frozen=True)
class Span:
    """The values of one symbol that count, both ends included."""

    symbol: sympy.Symbol
    low: int
    high: int


def bracketed(
    limits: PoolLimits, budget: int, span: Span, exact: Callable[[int], int | None], most: int = MAX_MEASURED
) -> Boolean | Unknown:
    """Where a pool keeps to a budget: certainly where its upper limit does, certainly not where its lower
    limit exceeds it; what lies between is measured. Unknown, with the bracket, where that
    is more than `most` values.
    """
    if not grows(sympy.sympify(limits.least)) or not grows(sympy.sympify(limits.most)):
        return Unknown("what the pool takes may shrink while a symbol grows")
    fits = last_that_fits(limits.most, budget, span)
    over = last_that_fits(limits.least, budget, span) + 1
    if over - fits - 1 > most:
        return Unknown(f"it {bracket(fits, over, span)}")
    between = [(n, exact(n)) for n in range(fits + 1, over)]
    if any(size is None for _, size in between):
        return Unknown(f"it {bracket(fits, over, span)}")
    kept = [n for n, size in between if size is not None and size <= budget]
    spans = list(_intervals([*([fits] if fits >= span.low else []), *kept]))
    parts = [_inside(span, span.low if low == fits else low, high) for low, high in spans]
    # Nothing is said of values below the range.
    return sympy.Or(*parts) if parts or span.low <= 0 else sympy.Lt(span.symbol, span.low)


def solution(condition: Boolean, span: Span) -> str | None:
    """`fits for n <= 896 and n = 1017..1024; first over budget: n = 897`; None where too much has to be tried
    or said.
    """
    if condition.free_symbols != {span.symbol}:
        return None
    parts = _where(condition, span)
    if not parts or len(parts) > MAX_SHOWN or parts == [(span.low, span.high)]:
        return None
    name = span.symbol.name
    texts = [_run(name, low, high, span) for low, high in parts]
    first = span.low if parts[0][0] > span.low else parts[0][1] + 1
    return f"fits for {' and '.join(texts)}; first over budget: {name} = {first}"


def solved(condition: Boolean, span: Span) -> str | None:
    """`n <= 896 and n = 1017..1024`, `every n <= 2048` or `no n`; None where too much has to be tried or
    said.
    """
    name = span.symbol.name
    if not condition.free_symbols:
        return f"every {name}" if condition == sympy.true else f"no {name}"
    if condition.free_symbols != {span.symbol}:
        return None
    parts = _where(condition, span)
    if parts is None or len(parts) > MAX_SHOWN:
        return None
    if parts == [(span.low, span.high)]:
        return f"every {name} <= {span.high:,}"
    return " and ".join(_run(name, low, high, span) for low, high in parts) or f"no {name}"


def _run(name: str, low: int, high: int, span: Span) -> str:
    if low == span.low:
        return f"{name} <= {high}"
    return f"{name} = {low}..{high}" if low < high else f"{name} = {low}"


def _where(condition: Boolean, span: Span) -> list[tuple[int, int]] | None:
    """The runs of values for which a condition holds; None where too many would have to be tried."""
    holds = compile_condition(condition, (span.symbol,))
    limits = [each.rhs for each in condition.atoms(Relational) if each.lhs == span.symbol]
    if len(limits) < len(condition.atoms(Relational)) or not all(limit.is_Integer for limit in limits):
        if span.high - span.low < MAX_TRIED:
            return list(_intervals([n for n in range(span.low, span.high + 1) if holds(n)]))
        if not isinstance(condition, (sympy.Le, sympy.Lt)) or not grows(condition.lhs - condition.rhs):
            return None
        # What grows crosses a limit once.
        last = _last(lambda n: bool(holds(n)), span)
        return [(span.low, last)] if last >= span.low else []
    # The truth changes next to a limit only.
    near = {int(limit) + step for limit in limits for step in (-1, 0, 1)}
    points = sorted({span.low, span.high, *(n for n in near if span.low <= n <= span.high)})
    found: list[tuple[int, int]] = []
    for low, high in zip(points, [*points[1:], None], strict=True):
        last = low if high is None or not holds(high) else high
        if not holds(low):
            continue
        if found and found[-1][1] >= low - 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((low, last))
    return found


def last_that_fits(size: Quantity, budget: int, span: Span) -> int:
    """The last value for which a size that grows keeps to a budget; without one, the number below the
    range.
    """
    return _last(lambda n: _at(size, span.symbol, n) <= budget, span)


def _last(holds: Callable[[int], bool], span: Span) -> int:
    """The last value for which a condition holds that fails for all larger ones; without one, the number
    below the range.
    """
    good, bad = span.low - 1, span.high + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


def _at(size: Quantity, symbol: sympy.Symbol, value: int) -> int:
    return size if isinstance(size, int) else compile_expr(size, (symbol,))(value)


def bracket(fits: int, over: int, span: Span) -> str:
    """`fits up to n = 2,031; fails from 2,048`."""
    name = span.symbol.name
    below = f"fits up to {name} = {fits:,}" if fits >= span.low else f"may fit below {name} = {over:,}"
    return f"{below}; fails from {over:,}" if over <= span.high else below


def _intervals(values: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Numbers in rising order as runs of neighbours."""
    start = 0
    for position in range(1, len(values) + 1):
        if position == len(values) or values[position] != values[position - 1] + 1:
            yield values[start], values[position - 1]
            start = position


def _inside(span: Span, low: int, high: int) -> Boolean:
    """The ends of the range are named: a bound that is only declared is then an assumption."""
    lower = sympy.true if low <= 0 else sympy.Ge(span.symbol, low)
    return sympy.And(lower, sympy.Le(span.symbol, high))
