"""Sizes that are left open while a kernel is searched: which they are, and how they are told apart into cases
that together are all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.growing import growing
from relax_lint.model.kernel_body.intervals import Interval

Case: TypeAlias = "Mapping[sympy.Symbol, Interval]"
"""Sizes as numbers, and as numbers that grow; unknown ones are left out."""
_SMALL = 3
"""Up to this size what begins and ends may meet."""
_LARGEST = 16
"""A constant above this one tells no sizes apart: these would be too many to try."""
_MOST_CASES = 48
_MOST_SYMBOLS = 3
"""Of more symbols no cases are told apart."""


def confirmed_where(
    when: Boolean,
    least: Mapping[sympy.Symbol, int],
    constants: Iterable[int],
    holds: Callable[[Case], bool],
) -> Boolean:
    """That part of a condition on sizes, each of which is at least so much, under which something `holds`, as
    far as the cases tell that are asked about.
    """
    if holds(_open(least)):
        return when
    if not 0 < len(least) <= _MOST_SYMBOLS:
        return sympy.false
    most = _most_of(when)
    for end in _ends(constants, most.values()):
        large = {symbol: max(end, number) for symbol, number in least.items()}
        is_bounded = any(most.get(symbol, end) < end for symbol in least)
        if large == least or not (is_bounded or holds(_open(large))):
            continue
        rest = list(_below(least, end))
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


def _open(least: Mapping[sympy.Symbol, int]) -> Case:
    return {symbol: _larger(place, number) for place, (symbol, number) in enumerate(least.items())}


def _larger(place: int, number: int) -> Interval:
    found = growing(place, number)
    return found, found


def _below(least: Mapping[sympy.Symbol, int], end: int) -> Iterator[Case]:
    """The cases in which a symbol is less than `end`: each number of the first that is, those before it being
    at least that.
    """
    for place, symbol in enumerate(least):
        for number in range(least[symbol], end):
            case = {
                other: _larger(position, max(end, low) if position < place else low)
                for position, (other, low) in enumerate(least.items())
            }
            yield {**case, symbol: (number, number)}


def _is_possible(when: Boolean, case: Case) -> bool:
    """Whether a condition may hold in a case."""
    numbers = {one: ends[0] for one, ends in case.items() if isinstance(ends[0], int)}
    try:
        return bool(when.xreplace(numbers) != sympy.false)
    except (ArithmeticError, TypeError, ValueError):
        # Of a division by a size that is zero, say.
        return True


def least_of(
    when: Boolean, symbols: Iterable[sympy.Symbol], shapes: Sequence[Sequence[sympy.Expr]], own: int
) -> dict[sympy.Symbol, int]:
    """How large the symbols are at least under a condition, where the parameter `own` has elements; without
    those that may be any number.
    """
    extents = {extent for shape in shapes for extent in shape if extent.is_Symbol}
    found = {symbol: 0 for symbol in symbols if symbol in extents}
    positive = [sympy.Ge(extent, 1) for extent in shapes[own]]
    for symbol, number in _bounds(sympy.And(when, *positive), found).items():
        found[symbol] = max(number, found.get(symbol, number))
    return found


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
    factors = sympy.Mul.make_args(symbols)
    if len(factors) == 1 and symbols.is_Symbol:
        return {symbols: -(int(number) // int(factor))}
    # A product of numbers that are not negative is positive where each of them is.
    if number < 0 and all(each in extents for each in factors):
        return dict.fromkeys(factors, 1)
    return {}
