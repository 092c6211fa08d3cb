"""Exact integer operations that sympy has no safe form of.

Each is a plain sympy function with an integer value. Rewriting is limited to identities that
hold for all integers; everything else stays as written.
"""

from __future__ import annotations

from math import gcd
from typing import Any

import sympy

from relax_lint.symbolic.polynomial import ONE, NotPolynomial, Polynomial, to_polynomial


class IntegerFunction(sympy.Function):  # type: ignore[misc]
    """A function from integers to integers."""

    is_integer = True


class FloorDiv(IntegerFunction):
    """Quotient rounded towards minus infinity: Python's `//`, TVM's FloorDiv. Undefined for divisor 0."""

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Constants, and terms of the dividend that the constant divisor divides."""
        divisor = _positive_constant(b)
        if divisor is None:
            return _fold(a, b, floor_div)
        if divisor == 1:
            return a
        try:
            whole, rest = _split(to_polynomial(a), divisor)
        except NotPolynomial:
            return None
        if rest.is_constant:
            return whole.to_expr()
        if isinstance(inner := _single_atom(rest), FloorDiv) and _positive_constant(inner.args[1]):
            return whole.to_expr() + FloorDiv(inner.args[0], inner.args[1] * b)
        common = gcd(rest.content, divisor)
        rest = Polynomial({m: c // common for m, c in rest.terms.items()})
        numerator, denominator = rest.to_expr(), sympy.Integer(divisor // common)
        if numerator != a:
            return whole.to_expr() + FloorDiv(numerator, denominator)
        return None


class FloorMod(IntegerFunction):
    """Remainder with the sign of the divisor: Python's `%`, TVM's FloorMod. Undefined for divisor 0."""

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Constants, and terms of the dividend that the constant divisor divides."""
        divisor = _positive_constant(b)
        if divisor is None:
            return _fold(a, b, floor_mod)
        if divisor == 1:
            return sympy.Integer(0)
        try:
            _, rest = _split(to_polynomial(a), divisor)
        except NotPolynomial:
            return None
        if rest.is_constant:
            return sympy.Integer(rest.constant_term)
        numerator = rest.to_expr()
        return FloorMod(numerator, b) if numerator != a else None


class TruncDiv(IntegerFunction):
    """Quotient rounded towards zero: C's `/`, TVM's Div. Undefined for divisor 0."""

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Constants, and divisions by 1 and -1."""
        if b in (1, -1):
            return a * b
        return _fold(a, b, trunc_div)


class TruncMod(IntegerFunction):
    """Remainder with the sign of the dividend: C's `%`, TVM's Mod. Undefined for divisor 0."""

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Constants only."""
        return sympy.Integer(0) if b == 1 else _fold(a, b, trunc_mod)


class BitAnd(IntegerFunction):
    """Bitwise and of two's complement integers of unlimited width."""

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Constants, and masks of the form 2**k - 1, which are remainders."""
        if isinstance(a, sympy.Integer) and not isinstance(b, sympy.Integer):
            a, b = b, a
        mask = int(b) if isinstance(b, sympy.Integer) else -2
        if mask >= 0 and mask & (mask + 1) == 0:
            return FloorMod(a, sympy.Integer(mask + 1))
        return _fold_total(a, b, int.__and__)


class BitOr(IntegerFunction):
    """Bitwise or of two's complement integers of unlimited width."""

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Constants only."""
        return _fold_total(a, b, int.__or__)


class BitXor(IntegerFunction):
    """Bitwise exclusive or of two's complement integers of unlimited width."""

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Constants only."""
        return _fold_total(a, b, int.__xor__)


class Select(IntegerFunction):
    """`Select(condition, a, b)`: a where the condition holds, else b."""

    @classmethod
    def eval(cls, condition: Any, a: Any, b: Any) -> Any:
        """A decided condition, or equal branches."""
        if condition == sympy.true or a == b:
            return a
        return b if condition == sympy.false else None


DIVISIONS = (FloorDiv, FloorMod, TruncDiv, TruncMod)
OPERATIONS = (*DIVISIONS, BitAnd, BitOr, BitXor, Select, sympy.Max, sympy.Min)
"""What the provers know beside sums, products and powers."""


def floor_div(a: int, b: int) -> int:
    """Quotient rounded down. Raises ZeroDivisionError."""
    return a // b


def floor_mod(a: int, b: int) -> int:
    """Remainder of `floor_div`. Raises ZeroDivisionError."""
    return a % b


def trunc_div(a: int, b: int) -> int:
    """Quotient rounded towards zero. Raises ZeroDivisionError."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def trunc_mod(a: int, b: int) -> int:
    """Remainder of `trunc_div`. Raises ZeroDivisionError."""
    return a - b * trunc_div(a, b)


def _positive_constant(b: Any) -> int | None:
    return int(b) if isinstance(b, sympy.Integer) and b > 0 else None


def _fold(a: Any, b: Any, operation: Any) -> Any:
    """A constant result, or None; a division by zero is left standing, it has no value."""
    if isinstance(a, sympy.Integer) and isinstance(b, sympy.Integer) and b != 0:
        return sympy.Integer(operation(int(a), int(b)))
    return None


def _fold_total(a: Any, b: Any, operation: Any) -> Any:
    if isinstance(a, sympy.Integer) and isinstance(b, sympy.Integer):
        return sympy.Integer(operation(int(a), int(b)))
    return None


def _split(p: Polynomial, divisor: int) -> tuple[Polynomial, Polynomial]:
    """`(q, r)` with p = divisor*q + r; q takes all terms that divide, r keeps a constant of 0..divisor-1."""
    whole: dict[Any, int] = {}
    rest: dict[Any, int] = {}
    for monomial, coefficient in p.terms.items():
        quotient, remainder = divmod(coefficient, divisor)
        if monomial == ONE:
            whole[ONE], rest[ONE] = quotient, remainder
        elif remainder == 0:
            whole[monomial] = quotient
        else:
            rest[monomial] = coefficient
    return Polynomial(whole), Polynomial(rest)


def _single_atom(p: Polynomial) -> Any:
    """The atom if the polynomial is just that atom, else None."""
    if len(p.terms) != 1:
        return None
    (monomial, coefficient), *_ = p.terms.items()
    return monomial[0][0] if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1 else None
