"""The words of an inserted run-time check."""

from __future__ import annotations

from collections.abc import Iterable

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.fixes.comparing import Comparison
from relax_lint.symbolic.printing import condition_text


def assert_format(condition: Boolean, symbols: Iterable[sympy.Symbol]) -> str:
    """The `format` of an `R.assert_op`, with a `{}` for the value of each symbol: what the symbols are, and
    what is needed of them.
    """
    values = ", ".join(f"{symbol.name} = {{}}" for symbol in symbols)
    return f"{values}, but {condition_text(condition)} is needed"


def comparison_text(condition: Boolean, comparison: Comparison) -> str:
    """The words of a check that `vm.builtin.match_shape` makes. The virtual machine puts the two numbers in
    front of them.
    """
    words = f" ({comparison.words})" if comparison.words else ""
    return f"{condition_text(condition)} is needed{words};"
