"""Conditions of assertions and branches, as TVM's analyzer leaves them to be computed."""

from __future__ import annotations

import re
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic.cancelled import cancelled
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import nodes

_MAY_WRAP = ("Add", "Sub", "Mul")
_NARROW = ("int8", "int16")
"""Types of whose arithmetic TVM's analyzer knows that it may wrap around."""
_TYPED_NUMBER = re.compile(r"\bT\.(?:u?int\d+|bool)\((-?\w+)\)")


def read_condition(translator: Translator, node: Any) -> Boolean:
    """A condition in the function's symbols. Raises `Untranslatable` where a scalar drops out of it as an
    integer, and not as a number that wraps around, as in `h < h - int8(3)`.
    """
    condition = cancelled(translator.condition(node))
    for part in nodes.nodes_of(node):
        if type(part).__name__ not in _MAY_WRAP or str(part.ty.dtype) not in _NARROW:
            continue
        used = {translator.expr(one) for one in nodes.nodes_of(part) if type(one).__name__ == "Var"}
        if not used <= condition.free_symbols:
            raise Untranslatable(f"{part} may wrap around")
    return condition


def written_condition(node: Any, condition: Boolean) -> str:
    """A condition for people: as it was written where nothing is left of it but a constant."""
    if condition not in (sympy.true, sympy.false):
        return condition_text(condition)
    text = _TYPED_NUMBER.sub(r"\1", str(node))
    return condition_text(condition) if "\n" in text else text
