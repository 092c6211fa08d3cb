"""Conditions in the operations that the provers read; rule packages may write theirs with sympy's own."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sympy
from sympy.logic.boolalg import And, Not, Or

from relax_lint.symbolic import functions as f

_ZERO = sympy.Integer(0)


@lru_cache(maxsize=1 << 14)
def standard(e: Any) -> Any:
    """The same expression or condition without sympy's `Mod`, `floor`, `ceiling`, `Abs`, `sign`, `Piecewise`
    and the Boolean operators other than and, or and not, where all that they are about are integers; what
    has no such form stays as it is.
    """
    try:
        return _standard(e)
    except (TypeError, ValueError):
        # sympy refuses to build what has no value, such as a comparison with a Piecewise without a piece.
        return e


def _standard(e: Any) -> Any:
    if not e.args:
        return e
    parts = tuple([_standard(a) for a in e.args])
    written = _rewritten(e, parts)
    if written is not None:
        return written
    whole = e if parts == e.args else e.func(*parts)
    return _without_fractions(whole) if isinstance(whole, sympy.core.relational.Relational) else whole


def _rewritten(e: Any, parts: tuple[Any, ...]) -> Any | None:
    if isinstance(e, sympy.Piecewise):
        return _select(parts)
    if isinstance(e, sympy.floor | sympy.ceiling):
        # ceiling(x) = -floor(-x)
        sign = 1 if isinstance(e, sympy.floor) else -1
        quotient = _floor(sign * parts[0])
        return None if quotient is None else sign * quotient
    if isinstance(e, sympy.Mod | sympy.Abs | sympy.sign):
        if not all(a.is_integer for a in parts):
            return None
        if isinstance(e, sympy.Mod):
            return f.FloorMod(*parts)
        (x,) = parts
        if isinstance(e, sympy.Abs):
            return sympy.Max(x, -x)
        return f.Select(sympy.Gt(x, 0), sympy.Integer(1), f.Select(sympy.Lt(x, 0), sympy.Integer(-1), _ZERO))
    if isinstance(e, sympy.ITE):
        condition, yes, no = parts
        return Or(And(condition, yes), And(Not(condition), no))
    if isinstance(e, sympy.logic.boolalg.BooleanFunction) and not isinstance(e, And | Or | Not):
        return _standard(e.to_nnf(simplify=False))
    return None


def _without_fractions(relation: Any) -> Any:
    """`n/2 <= m + 1/3` as `3*n - 6*m - 2 <= 0`: sympy writes `floor(n/2) > m` as such a relation."""
    if all(side.is_integer for side in relation.args):
        return relation
    left, right = relation.args
    # A number that sympy divides by is positive.
    numerator, denominator = sympy.fraction(sympy.together(left - right))
    if not (numerator.is_integer and isinstance(denominator, sympy.Integer)):
        return relation
    return relation.func(numerator, 0)


def _floor(x: Any) -> Any | None:
    """The largest integer that is not above a quotient of integers."""
    numerator, denominator = sympy.fraction(sympy.together(x))
    if not (numerator.is_integer and denominator.is_integer):
        return None
    return f.FloorDiv(numerator, denominator)


def _select(pieces: tuple[Any, ...]) -> Any | None:
    """The first piece whose condition holds; one of them must, and all must be integers."""
    *earlier, (last, condition) = pieces
    if condition != sympy.true or not all(value.is_integer for value, _ in pieces):
        return None
    for value, holds in reversed(earlier):
        last = f.Select(holds, value, last)
    return last
