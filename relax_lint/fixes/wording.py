"""The words of an inserted run-time check."""

from __future__ import annotations

from collections.abc import Iterable

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic.printing import condition_text


def assert_format(condition: Boolean, symbols: Iterable[sympy.Symbol]) -> str:
    """The `format` of an `R.assert_op`, with a `{}` for the value of each symbol: what the symbols are, and
    what is needed of them.
    """
    values = ", ".join(f"{symbol.name} = {{}}" for symbol in symbols)
    return f"{values}, but {condition_text(condition)} is needed"
