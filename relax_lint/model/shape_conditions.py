"""What a comparison of an extent with a number says: `max(n, 512)` equals 512 where `n <= 512`."""

from __future__ import annotations

import sympy
from sympy.logic.boolalg import And, Boolean, Or

from relax_lint.symbolic import functions as f


def equality(value: sympy.Expr, expected: sympy.Expr) -> Boolean:
    """`value == expected`, in the words of what a maximum, a minimum or a choice is made of."""
    if isinstance(value, (sympy.Max, sympy.Min)) and expected in value.args:
        others = [argument for argument in value.args if argument != expected]
        relation = sympy.Le if isinstance(value, sympy.Max) else sympy.Ge
        return And(*(relation(other, expected) for other in others))
    if isinstance(value, f.Select) and expected.is_Integer:
        condition, first, second = value.args
        if first == expected:
            return _chosen(condition, second, expected)
    return sympy.Eq(value, expected)


def _chosen(condition: Boolean, otherwise: sympy.Expr, expected: sympy.Expr) -> Boolean:
    """`condition`, or the value chosen otherwise is the expected one."""
    same = sympy.Eq(otherwise, expected)
    if same == sympy.false:
        return condition
    if otherwise.is_Symbol and condition.subs(otherwise, expected) == sympy.true:
        return condition
    return Or(condition, same)
