"""The distance of an element from the start of its buffer, in a normal form.

A kernel that copies a tensor to another shape reads element `[v // 4 % n, v % 4]` and writes `[v]`: the same
element of the same bytes.
"""

from __future__ import annotations

import sympy

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.symbolic.functions import FloorDiv, FloorMod

_MAX_STEPS = 32


def flat_position(
    indices: tuple[sympy.Expr, ...], shape: tuple[sympy.Expr, ...], loops: Loops
) -> sympy.Expr | None:
    """The number of elements before an element in row-major order; None where ranks differ.

    Quotients are rewritten into remainders by `k * (e // k) = e - e % k`, and remainders that the ranges of
    the loops make superfluous are dropped, so that what unravels an index cancels out.
    """
    if len(indices) != len(shape):
        return None
    key = indices, shape
    if key not in loops.positions:
        loops.positions[key] = _position(indices, shape, loops)
    return loops.positions[key]


def _position(indices: tuple[sympy.Expr, ...], shape: tuple[sympy.Expr, ...], loops: Loops) -> sympy.Expr:
    position = sympy.Integer(0)
    for index, extent in zip(indices, shape, strict=True):
        position = position * extent + index
    single = {symbol: loops.range_of(symbol) for symbol in position.free_symbols}
    position = position.xreplace(
        {symbol: reached.first for symbol, reached in single.items() if reached and reached.extent == 1}
    )
    return _normal(position, loops)


def _normal(position: sympy.Expr, loops: Loops) -> sympy.Expr:
    for _ in range(_MAX_STEPS):
        position = sympy.expand(position)
        for term in sympy.Add.make_args(position):
            simpler = _term(term, loops)
            if simpler is not None:
                position = position - term + simpler
                break
        else:
            break
    return position


def _term(term: sympy.Expr, loops: Loops) -> sympy.Expr | None:
    """A term in simpler form, if there is one."""
    for factor in sympy.Mul.make_args(term):
        if isinstance(factor, FloorDiv | FloorMod):
            simpler = _factor(factor, term / factor, loops)
            if simpler is not None:
                return simpler
    return None


def _factor(factor: sympy.Expr, coefficient: sympy.Expr, loops: Loops) -> sympy.Expr | None:
    inner, divisor = factor.args
    if isinstance(factor, FloorMod):
        if _is_within(inner, divisor, loops):
            return coefficient * inner
        if isinstance(inner, FloorMod) and _quotient(inner.args[1], divisor) is not None:
            return coefficient * FloorMod(inner.args[0], divisor)
        if isinstance(inner, FloorDiv):
            # e // k % m is (e % (k * m) - e % k) / k.
            dividend, width = inner.args
            whole = _quotient(coefficient, width)
            if whole is not None:
                return whole * (FloorMod(dividend, width * divisor) - FloorMod(dividend, width))
        return None
    whole = _quotient(coefficient, divisor)
    return None if whole is None else whole * (inner - FloorMod(inner, divisor))


def _quotient(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr | None:
    """`a / b` where that is a polynomial with integer coefficients."""
    quotient = sympy.cancel(a / b)
    return quotient if quotient.as_numer_denom()[1] == 1 else None


def _is_within(value: sympy.Expr, limit: sympy.Expr, loops: Loops) -> bool:
    """Whether 0 <= value < limit on every step of the loops."""
    reached = loops.range_of(value)
    if reached is None:
        return False
    room = sympy.expand(limit - 1 - reached.last)
    first = reached.first
    return bool(first.is_Integer and first >= 0 and room.is_Integer and room >= 0)
