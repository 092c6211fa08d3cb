"""Bounds of integer expressions over boxes, in exact integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import sympy

from relax_lint.symbolic import functions as f
from relax_lint.symbolic.domain import INT64_MAX, INT64_MIN
from relax_lint.symbolic.polynomial import Monomial, NotPolynomial, Polynomial, to_polynomial

Interval = tuple[int, int]
"""Lowest and highest value, both included."""

Box = Mapping[Any, Interval]

MAX_CORNER_AXES = 8


class Bounds:
    """Bounds of expressions whose symbols are in a box. Symbols outside it may be any int64."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self._known: dict[Any, Interval] = {}

    def atom(self, atom: Any) -> Interval:
        """Bounds of one atom: of a symbol those of the box, else what the operation can give."""
        if isinstance(atom, sympy.Symbol):
            return self.box.get(atom, (INT64_MIN, INT64_MAX))
        known = self._known.get(atom)
        if known is None:
            known = self._known[atom] = self._operation(atom)
        return known

    def expr(self, expr: Any) -> Interval:
        """Bounds of any integer expression. Raises `NotPolynomial`."""
        return self.polynomial(to_polynomial(expr))

    def polynomial(self, p: Polynomial) -> Interval:
        """Bounds of a polynomial: each monomial apart, then the corners of the box where signs differ."""
        low = high = 0
        for monomial, coefficient in p.terms.items():
            a, b = self._monomial(monomial)
            low += coefficient * (a if coefficient > 0 else b)
            high += coefficient * (b if coefficient > 0 else a)
        if low < 0 < high and self._worth_corners(p):
            corner_low, corner_high = self._corners(p)
            low, high = max(low, corner_low), min(high, corner_high)
        return low, high

    def price(self, p: Polynomial) -> int:
        """How much work the bounds of a polynomial are at most, in steps of `symbolic.work`."""
        terms = len(p.terms)
        return 4 + terms * (3 if not self._worth_corners(p) else 3 + (1 << len(_powers(p))))

    def _monomial(self, monomial: Monomial) -> Interval:
        low, high = 1, 1
        for atom, exponent in monomial:
            a, b = self._power(atom, exponent)
            ends = (low * a, low * b, high * a, high * b)
            low, high = min(ends), max(ends)
        return low, high

    def _power(self, atom: Any, exponent: int) -> Interval:
        a, b = self.atom(atom)
        ends = a**exponent, b**exponent
        if exponent % 2 == 0 and a < 0 < b:
            return 0, max(ends)
        return min(ends), max(ends)

    @staticmethod
    def _worth_corners(p: Polynomial) -> bool:
        """Whether some power of an atom occurs in two monomials, so that they are not independent."""
        return len(_powers(p)) < sum(map(len, p.terms)) and len(_powers(p)) <= MAX_CORNER_AXES

    def _corners(self, p: Polynomial) -> Interval:
        """Bounds with every power of an atom as an axis of its own: the polynomial is linear along
        each axis, so it takes its extremes at corners.
        """
        axes = list(dict.fromkeys(power for monomial in p.terms for power in monomial))
        values = []
        for corner in product(*(self._power(atom, exponent) for atom, exponent in axes)):
            at = dict(zip(axes, corner, strict=True))
            value = 0
            for monomial, coefficient in p.terms.items():
                for power in monomial:
                    coefficient *= at[power]
                value += coefficient
            values.append(value)
        return min(values), max(values)

    def _operation(self, e: Any) -> Interval:
        if not isinstance(e, f.OPERATIONS):
            raise NotPolynomial(f"no bounds are known for {e}")
        return of_operation(e, [self.expr(part) for part in e.args if isinstance(part, sympy.Expr)])


def of_operation(e: Any, parts: Sequence[Interval]) -> Interval:
    """Bounds of one of `functions.OPERATIONS` on integers with these bounds."""
    if isinstance(e, (sympy.Max, sympy.Min)):
        pick = max if isinstance(e, sympy.Max) else min
        return pick(p[0] for p in parts), pick(p[1] for p in parts)
    a, b = parts
    if isinstance(e, f.FloorDiv):
        return _floor_div(a, b)
    if isinstance(e, f.FloorMod):
        return _floor_mod(a, b)
    if isinstance(e, f.TruncDiv):
        return _magnitude_quotient(a, b)
    if isinstance(e, f.TruncMod):
        return _trunc_mod(a, b)
    if isinstance(e, f.Select):
        return min(a[0], b[0]), max(a[1], b[1])
    return _bitwise(a, b)


def _powers(p: Polynomial) -> set[Any]:
    return {power for monomial in p.terms for power in monomial}


def _divisors(b: Interval) -> list[int]:
    """The ends of the divisor's range and those next to zero: a quotient is extreme at one of them."""
    return [d for d in {b[0], b[1], -1, 1} if d != 0 and b[0] <= d <= b[1]]


def _floor_div(a: Interval, b: Interval) -> Interval:
    """A division by 0 has no value, so nothing is claimed about it."""
    quotients = [n // d for n in a for d in _divisors(b)]
    return (min(quotients), max(quotients)) if quotients else (0, 0)


def _magnitude_quotient(a: Interval, b: Interval) -> Interval:
    quotients = [f.trunc_div(n, d) for n in a for d in _divisors(b)]
    if not quotients:
        return 0, 0
    return min(quotients), max(quotients)


def _floor_mod(a: Interval, b: Interval) -> Interval:
    if b[0] == b[1] and b[0] > 0 and a[0] // b[0] == a[1] // b[0]:
        return a[0] % b[0], a[1] % b[0]
    low, high = min(0, b[0] + 1), max(0, b[1] - 1)
    if b[0] > 0 and a[0] >= 0:
        high = min(high, a[1])
    return low, high


def _trunc_mod(a: Interval, b: Interval) -> Interval:
    largest = max(abs(b[0]), abs(b[1]), 1) - 1
    return max(min(a[0], 0), -largest), min(max(a[1], 0), largest)


def _bitwise(a: Interval, b: Interval) -> Interval:
    """The smallest two's complement range that holds both operands."""
    bits = max((end if end >= 0 else ~end).bit_length() for end in (*a, *b))
    return (0 if min(a[0], b[0]) >= 0 else -(2**bits)), 2**bits - 1
