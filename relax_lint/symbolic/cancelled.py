"""Quotients that TVM does not compute, because it cancels the divisor: it may be zero then."""

from __future__ import annotations

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic import functions as f


def cancelled(condition: Boolean) -> Boolean:
    """A condition in which quotients and remainders of multiples of their divisors are what they come to."""
    found: dict[sympy.Expr, sympy.Expr] = {}
    for division in condition.atoms(*f.DIVISIONS):
        value, divisor = division.args
        quotient = None if divisor.is_Integer else _quotient(value, divisor)
        if quotient is not None:
            is_rest = isinstance(division, f.FloorMod | f.TruncMod)
            found[division] = sympy.Integer(0) if is_rest else quotient
    return condition.xreplace(found) if found else condition


def _quotient(value: sympy.Expr, divisor: sympy.Expr) -> sympy.Expr | None:
    """What a polynomial comes to times a divisor, if that has integers as its coefficients."""
    symbols = sorted(value.free_symbols | divisor.free_symbols, key=str)
    if not (value.is_polynomial(*symbols) and divisor.is_polynomial(*symbols)):
        return None
    quotient, rest = sympy.div(value, divisor, *symbols)
    whole = rest == 0 and all(one.is_Integer for one in sympy.Poly(quotient, *symbols).coeffs())
    return quotient if whole else None
