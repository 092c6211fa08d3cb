"""Sizes that are left open while a kernel is searched: which they are, and how they are told apart into cases
that together are all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import TypeAlias

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.growing import Whole, growing
from relax_lint.model.kernel_body.intervals import Interval
from relax_lint.support.lazy_dataclass import record

Case: TypeAlias = "Mapping[sympy.Symbol, Interval]"
"""Sizes as numbers, and as numbers that grow; unknown ones are left out."""
_SMALL = 3
"""Up to this size what begins and ends may meet."""
_LARGEST = 16
"""A constant above this one tells no sizes apart: these would be too many to try."""
_MOST_CASES = 48
_MOST_SYMBOLS = 3
"""Of more symbols no cases are told apart."""


@record(frozen=True)
class Bounds:
    """How large sizes are at least: each one more than a number, and some not less than sums of others."""

    least: Mapping[sympy.Symbol, int]
    above: Sequence[tuple[sympy.Symbol, sympy.Expr]] = ()

    def from_(self, end: int) -> Bounds:
        """Where each is at least so much."""
        return Bounds({symbol: max(end, number) for symbol, number in self.least.items()}, self.above)

    def with_(self, symbol: sympy.Symbol, sum_: sympy.Expr) -> Bounds:
        """Where one of them is not less than a sum of others besides."""
        return Bounds(self.least, ((symbol, sum_), *self.above))

    def case(self, numbers: Mapping[sympy.Symbol, int] = MappingProxyType({})) -> Case:
        """All such sizes, where some of them are numbers."""
        found = {
            symbol: numbers.get(symbol, growing(place, number))
            for place, (symbol, number) in enumerate(self.least.items())
        }
        used: set[sympy.Symbol] = set(numbers)
        for symbol, sum_ in self.above:
            others = sum_.free_symbols
            if symbol not in self.least or not others <= found.keys() or symbol in used | others:
                continue
            low: Whole = int(sum_.as_coeff_Add()[0])
            for one in others:
                low = int(sum_.coeff(one)) * found[one] + low
            if low >= self.least[symbol]:
                found[symbol] = growing(list(self.least).index(symbol), 0) + low
                used |= others | {symbol}
        return {symbol: (number, number) for symbol, number in found.items()}


def confirmed_where(
    when: Boolean, bounds: Bounds, constants: Iterable[int], holds: Callable[[Case], bool]
) -> Boolean:
    """That part of a condition on sizes, which it bounds so, under which something `holds`, as far as the
    cases tell that are asked about.
    """
    least = bounds.least
    if holds(bounds.case()):
        return when
    if not 0 < len(least) <= _MOST_SYMBOLS:
        return sympy.false
    for one, other in combinations(least, 2):
        # Which of the two is less decides what the least or the greatest of them is.
        if all(holds(each.case()) for each in (bounds.with_(one, other), bounds.with_(other, one + 1))):
            return when
    most = _most_of(when)
    for end in _ends(constants, most.values()):
        large = bounds.from_(end)
        is_bounded = any(most.get(symbol, end) < end for symbol in least)
        if large == bounds or not (is_bounded or holds(large.case())):
            continue
        rest = list(_below(bounds, end))
        if len(rest) <= _MOST_CASES and all(holds(case) for case in rest if _is_possible(when, case)):
            return when
        if not is_bounded:
            return sympy.And(when, *(sympy.Ge(one, end) for one in least if least[one] < end))
    return sympy.false


def _ends(constants: Iterable[int], most: Iterable[int]) -> Iterator[int]:
    """Where the sizes that are tried one by one may end: what makes a difference is below."""
    yield _SMALL
    known = [abs(one) for one in constants if abs(one) <= _LARGEST]
    ends = {2 * max(known, default=0) + 2, *(one + 1 for one in most)}
    yield from sorted(end for end in ends if _SMALL < end <= _MOST_CASES)


def _below(bounds: Bounds, end: int) -> Iterator[Case]:
    """The cases in which a symbol is less than `end`: each number of the first that is, those before it being
    at least that.
    """
    least = bounds.least
    for place, symbol in enumerate(least):
        before = {other: max(end, low) for other, low in list(least.items())[:place]}
        for number in range(least[symbol], end):
            yield Bounds({**least, **before}, bounds.above).case({symbol: number})


def _is_possible(when: Boolean, case: Case) -> bool:
    """Whether a condition may hold in a case."""
    numbers = {one: ends[0] for one, ends in case.items() if isinstance(ends[0], int)}
    try:
        return bool(when.xreplace(numbers) != sympy.false)
    except (ArithmeticError, TypeError, ValueError):
        # Of a division by a size that is zero, say.
        return True


def bounds_of(
    when: Boolean, symbols: Iterable[sympy.Symbol], shapes: Sequence[Sequence[sympy.Expr]], own: int
) -> Bounds:
    """How large the symbols are at least under a condition, where the parameter `own` has elements; without
    those that may be any number.
    """
    when = _plain(when)
    extents = {extent for shape in shapes for extent in shape if extent.is_Symbol}
    found = {symbol: 0 for symbol in symbols if symbol in extents}
    positive = [sympy.Ge(extent, 1) for extent in shapes[own]]
    for symbol, number in _bounds(sympy.And(when, *positive), found).items():
        found[symbol] = max(number, found.get(symbol, number))
    given = [sympy.Ge(extent, 0) for shape in shapes for extent in shape]
    return Bounds(found, tuple(_above(sympy.And(when, *positive, *given))))


def _plain(when: Boolean) -> Boolean:
    """A condition without the least and the greatest of numbers, where it says that these are not below
    another number.
    """
    found = [when]
    for one in sympy.And.make_args(when):
        if not isinstance(one, sympy.Ge | sympy.Gt | sympy.Le | sympy.Lt):
            continue
        most, kind = one.gts, sympy.Gt if isinstance(one, sympy.Gt | sympy.Lt) else sympy.Ge
        parts = most.args
        if isinstance(most, sympy.Max) and one.lts.is_Integer:
            parts = [part for part in parts if kind(part, one.lts) != sympy.false]
        if isinstance(most, sympy.Min) or (isinstance(most, sympy.Max) and len(parts) == 1):
            found += [kind(part, one.lts) for part in parts]
    return sympy.And(*found)


def _above(when: Boolean) -> Iterator[tuple[sympy.Symbol, sympy.Expr]]:
    """The symbols that are under a condition not less than a sum of others, and that sum."""
    for one in sorted(sympy.And.make_args(when), key=str):
        if not isinstance(one, sympy.Ge | sympy.Gt | sympy.Le | sympy.Lt):
            continue
        room = sympy.expand(one.gts - one.lts) - int(isinstance(one, sympy.Gt | sympy.Lt))
        factors = {symbol: room.coeff(symbol) for symbol in room.free_symbols}
        rest = room - sum(factor * symbol for symbol, factor in factors.items())
        if not (rest.is_Integer and all(factor.is_Integer for factor in factors.values())):
            continue
        positive = [symbol for symbol, factor in factors.items() if factor > 0]
        if len(positive) == 1 and factors[positive[0]] == 1 and len(factors) > 1:
            yield positive[0], positive[0] - room


def _most_of(when: Boolean) -> dict[sympy.Symbol, int]:
    """How large symbols are at most under a condition."""
    negative = when.xreplace({symbol: -symbol for symbol in when.free_symbols})
    return {symbol: -number for symbol, number in _bounds(negative, {}).items()}


def _bounds(when: Boolean, extents: Mapping[sympy.Symbol, int]) -> dict[sympy.Symbol, int]:
    if isinstance(when, sympy.And | sympy.Or):
        each = [_bounds(one, extents) for one in when.args]
        if isinstance(when, sympy.Or):
            shared = set(each[0]).intersection(*each[1:])
            return {symbol: min(one[symbol] for one in each) for symbol in shared}
        found: dict[sympy.Symbol, int] = {}
        for bounds in each:
            for symbol, number in bounds.items():
                found[symbol] = max(number, found.get(symbol, number))
        return found
    if not isinstance(when, sympy.Ge | sympy.Gt | sympy.Le | sympy.Lt):
        return {}
    return _bounds_of(when, extents)


def _bounds_of(one: Relational, extents: Mapping[sympy.Symbol, int]) -> dict[sympy.Symbol, int]:
    room = sympy.expand(one.gts - one.lts) - int(isinstance(one, sympy.Gt | sympy.Lt))
    number, rest = room.as_coeff_Add()
    factor, symbols = rest.as_coeff_Mul()
    if not (number.is_Integer and factor.is_Integer and factor > 0):
        return {}
    if symbols.is_Symbol:
        return {symbols: -(int(number) // int(factor))}
    factors = sympy.Mul.make_args(symbols)
    # A product of numbers that are not negative is positive where each of them is.
    if number < 0 and all(each in extents for each in factors):
        return dict.fromkeys(factors, 1)
    return {}
