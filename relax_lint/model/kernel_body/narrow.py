"""Whether the arithmetic of a kernel fits its type: in 32 bits a product of sizes may wrap around.

What wraps around only where an argument has about 2**31 elements is taken as exact: an index of 32 bits does
not reach all elements of such a tensor, which the accesses of the kernel tell (`kernel_access/limits.py`).
The value of anything else is unknown: `range(40000 * k)` has no step for some `k` that are small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.symbolic.functions import FloorDiv, FloorMod, Select, TruncDiv, TruncMod

Span: TypeAlias = "tuple[sympy.Expr, sympy.Expr]"

_TAIL = sympy.Integer(2**16)
"""So many steps beyond the last element a loop may have that a schedule has split."""
_ZERO = sympy.Integer(0)
_LARGEST = 2**40
"""No extent of a real tensor is larger."""
_MOST_FACTORS = 8
_WIDEST = 64


class Widths:
    """The numbers that the arithmetic of one kernel comes to."""

    def __init__(self, loops: Loops, shapes: Iterable[Sequence[sympy.Expr] | None]) -> None:
        self._loops = loops
        self._counts = list(dict.fromkeys(_counts(shapes)))

    def fits(self, value: sympy.Expr, bits: int) -> bool:
        """Whether a value is a signed number of so many bits in every step of the loops around it."""
        span = self._span(value)
        if span is None:
            return False
        most = sympy.Integer(2 ** (bits - 1) - 1)
        return self._is_below(span[1], most) and self._is_below(-span[0] - 1, most)

    def held_if(self, value: sympy.Expr, bits: int) -> Boolean:
        """When a value is a signed number of so many bits in every step of the loops around it, in terms of
        the sizes.
        """
        most = sympy.Integer(2 ** (bits - 1) - 1)
        if self._magnitude(value) <= most:
            return sympy.true
        span = self._span(value)
        if span is None:
            return sympy.false
        if bits == _WIDEST and self._is_below(span[1], most) and self._is_below(-span[0] - 1, most):
            return sympy.true
        return sympy.And(sympy.Ge(span[0], -most - 1), sympy.Le(span[1], most))

    def _magnitude(self, value: sympy.Expr) -> int:
        """A number that a value is at most on either side of zero, if no size and no step is larger than the
        largest extent.
        """
        if value.is_Integer:
            return abs(int(value))
        if value.is_Symbol or any(count == value for count in self._counts):
            return _LARGEST
        parts = [self._magnitude(part) for part in _operands(value)]
        if value.is_Add:
            return sum(parts)
        if value.is_Mul:
            factor, rest = value.as_coeff_Mul()
            if factor != 1 and factor.is_Integer:
                return abs(int(factor)) * self._magnitude(rest)
            return math.prod(parts)
        if value.is_Pow and value.exp.is_Integer and 0 < value.exp <= _MOST_FACTORS:
            return int(parts[0] ** int(value.exp))
        if isinstance(value, FloorDiv | TruncDiv):
            return parts[0] + 1
        if isinstance(value, FloorMod | TruncMod):
            return parts[1]
        return max(parts, default=_LARGEST**_MOST_FACTORS)

    def _is_below(self, value: sympy.Expr, most: sympy.Integer) -> bool:
        """Whether a value is at most a number, or counts elements of an argument."""
        if value.is_Integer:
            return bool(value <= most)
        return any(self._is_at_most(value, count + _TAIL) for count in self._counts)

    def _is_at_most(self, value: sympy.Expr, count: sympy.Expr) -> bool:
        rest = sympy.Integer(0)
        for term in sympy.Add.make_args(sympy.expand(count - value)):
            rest += self._least(term)
        positive = max(rest.as_coeff_Add()[0], _ZERO)
        return self._loops.is_not_negative(rest - positive)

    def _least(self, term: sympy.Expr) -> sympy.Expr:
        """A number that a term is at least: a quotient is not above the one without rounding, nor below 0
        where what is divided is not.
        """
        for factor in sympy.Mul.make_args(term):
            if isinstance(factor, FloorDiv) and factor.args[1].is_Integer and factor.args[1] > 0:
                others = term / factor
                if self._loops.is_not_negative(-others):
                    return sympy.expand(others * factor.args[0] / factor.args[1])
                if self._loops.is_not_negative(others) and self._loops.is_not_negative(factor.args[0]):
                    return _ZERO
        return term

    # -- ranges --------------------------------------------------------------------------------

    def _span(self, value: sympy.Expr) -> Span | None:
        """Numbers between which a value lies in every step; None where that is not known."""
        reached = self._loops.range_of(value)
        if reached is not None:
            return sympy.expand(reached.first), sympy.expand(reached.last)
        if not value.args:
            return None
        parts = [self._span(part) for part in _operands(value)]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        if value.is_Add:
            return sum((low for low, _ in known), _ZERO), sum((high for _, high in known), _ZERO)
        if value.is_Mul:
            return self._product(known)
        if value.is_Pow and value.exp.is_Integer and value.exp > 0:
            return self._product(known[:1] * int(value.exp))
        if isinstance(value, FloorDiv | FloorMod):
            return self._division(value, *known)
        if isinstance(value, sympy.Max | sympy.Min | Select):
            return self._one_of(known)
        return None

    def _product(self, factors: Sequence[Span]) -> Span | None:
        low, high = factors[0]
        for least, most in factors[1:]:
            if self._is_positive(low) and self._is_positive(least):
                low, high = sympy.expand(low * least), sympy.expand(high * most)
            elif all(end.is_Integer for end in (low, high, least, most)):
                ends = [a * b for a in (low, high) for b in (least, most)]
                low, high = min(ends), max(ends)
            elif low == high and low.is_Integer and low < 0:
                low, high = sympy.expand(low * most), sympy.expand(low * least)
            else:
                return None
        return low, high

    def _division(self, value: sympy.Expr, inner: Span, divisor: Span) -> Span | None:
        if not self._is_positive(divisor[0]):
            return None
        if isinstance(value, FloorMod):
            return _ZERO, sympy.expand(divisor[1] - 1)
        if self._is_positive(inner[0]):
            constant = bool(divisor[0].is_Integer and divisor[0] > 0) and divisor[0] == divisor[1]
            return _ZERO, FloorDiv(inner[1], divisor[0]) if constant else inner[1]
        if all(end.is_Integer for end in inner):
            return min(inner[0], _ZERO), max(inner[1], _ZERO)
        return None

    def _one_of(self, options: Sequence[Span]) -> Span | None:
        """The ends of several values together."""
        ends = [end for option in options for end in option]
        if all(end.is_Integer for end in ends):
            return min(ends), max(ends)
        if all(self._is_positive(end) or self._is_positive(end + 1) for end in ends):
            return sympy.Integer(-1), sum((sympy.expand(high + 1) for _, high in options), _ZERO)
        return None

    def _is_positive(self, value: sympy.Expr) -> bool:
        return self._loops.is_not_negative(value)


def _counts(shapes: Iterable[Sequence[sympy.Expr] | None]) -> Iterator[sympy.Expr]:
    """The elements of the arguments and of their parts; 0 stands for arguments of a known size."""
    yield _ZERO
    for shape in shapes:
        extents = shape or ()
        for start, end in combinations(range(len(extents) + 1), 2):
            count = sympy.expand(sympy.Mul(*extents[start:end]))
            if not count.is_Integer:
                yield count


def _operands(value: sympy.Expr) -> Sequence[sympy.Expr]:
    """The parts of a value that are numbers."""
    parts: Sequence[sympy.Expr] = value.args
    return parts[1:] if isinstance(value, Select) else parts
