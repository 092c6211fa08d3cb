"""The words of an inserted run-time check."""

from __future__ import annotations

from collections.abc import Iterable

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic.printing import condition_text, expr_text

_EQUALITIES = {sympy.Eq: "==", sympy.Ne: "!="}


def assert_format(condition: Boolean, symbols: Iterable[sympy.Symbol]) -> str:
    """The `format` of an `R.assert_op`, with a `{}` for the value of each symbol: what the symbols are, and
    what is needed of them.
    """
    values = ", ".join(f"{symbol.name} = {{}}" for symbol in symbols)
    return f"{values}, but {_spoken(condition)} is needed"


def _spoken(condition: Boolean) -> str:
    """A condition as people say it: `k == 4 or m <= 8`."""
    if isinstance(condition, sympy.Or):
        return " or ".join(sorted(_spoken(part) for part in condition.args))
    if type(condition) not in _EQUALITIES:
        return condition_text(condition)
    left, right = condition.args
    if left.is_number:
        left, right = right, left
    return f"{expr_text(left)} {_EQUALITIES[type(condition)]} {expr_text(right)}"
