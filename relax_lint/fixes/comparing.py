"""A condition as one number that equals another where it holds: what `vm.builtin.match_shape` can check."""

from __future__ import annotations

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.printing import expr_text, relation_sides

_ALLOWED = range(-1, 17)


@record(frozen=True)
class Comparison:
    """The condition holds exactly where `value` equals `allowed`. Where it does not, the virtual machine
    prints both; `words` say what they are.
    """

    value: sympy.Expr
    allowed: int
    words: str = ""


def comparison(condition: Boolean, *, differences: bool) -> Comparison:
    """A comparison whose value tells as much as possible of the symbols: that of the side which is limited
    by a number; the difference of two sides where `differences` do not wrap around; the only symbol.
    """
    if isinstance(condition, Relational):
        value, limit = relation_sides(condition)
        limited = _limited(condition, *condition.args)
        if limited is not None:
            return limited
        if isinstance(condition, sympy.Eq) and limit.is_Integer:
            return _with_words(value, value, int(limit))
        if differences and not isinstance(condition, sympy.Ne):
            return _difference(condition)
    return _chosen(condition)


def _limited(condition: Relational, a: sympy.Expr, b: sympy.Expr) -> Comparison | None:
    """An inequality with a number on one side."""
    if isinstance(condition, (sympy.Ge, sympy.Gt)):
        a, b = b, a
    elif not isinstance(condition, (sympy.Le, sympy.Lt)):
        return None
    strict = isinstance(condition, (sympy.Lt, sympy.Gt))
    # a <= b, or a < b
    if b.is_Integer:
        limit = int(b) - strict
        return _with_words(sympy.Max(a, limit), a, limit)
    if a.is_Integer:
        limit = int(a) + strict
        return _with_words(sympy.Min(b, limit), b, limit)
    return None


def _difference(condition: Relational) -> Comparison:
    a, b = condition.args
    if isinstance(condition, sympy.Eq):
        return _with_words(a - b, a - b, 0)
    if isinstance(condition, (sympy.Ge, sympy.Gt)):
        a, b = b, a
    limit = -1 if isinstance(condition, (sympy.Lt, sympy.Gt)) else 0
    return _with_words(sympy.Max(a - b, limit), a - b, limit)


def _chosen(condition: Boolean) -> Comparison:
    """An allowed number, or else the only symbol, or 1."""
    symbols = condition.free_symbols
    if len(symbols) == 1:
        (symbol,) = symbols
        for number in _ALLOWED:
            if condition.subs(symbol, number) == sympy.true:
                value = f.Select(condition, sympy.Integer(number), symbol)
                return Comparison(value, number, f"{symbol.name} is the first of the two numbers")
    return Comparison(f.Select(condition, sympy.Integer(0), sympy.Integer(1)), 0)


def _with_words(value: sympy.Expr, shown: sympy.Expr, limit: int) -> Comparison:
    return Comparison(value, limit, f"{expr_text(shown)} vs. {limit}")
