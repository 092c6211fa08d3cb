"""What the extents of a function are divided by.

`VMShapeLower` has all extents of a function computed as soon as their symbols are known, at its beginning
mostly: also those of branches that are not taken, and before any assertion. A run in which a divisor is zero
ends there.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from relax_lint.model.operations import AllocStorage, AllocTensor, MatchCast, View
from relax_lint.model.program import Function
from relax_lint.model.types import TupleType, ValueType, extents_of
from relax_lint.symbolic.domain import Fact
from relax_lint.symbolic.functions import DIVISIONS
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.facts import FactSource


def divided(function: Function) -> tuple[Fact, ...]:
    """That no divisor in an extent is zero."""
    found = dict.fromkeys(
        sympy.Ne(division.args[1], 0)
        for extent in dict.fromkeys(_extents(function))
        if not extent.is_Atom
        for division in sorted(extent.atoms(*DIVISIONS), key=str)
    )
    return tuple(
        Fact.of(FactSource.DIVISOR, condition, condition_text(condition))
        for condition in found
        if condition not in (sympy.true, sympy.false)
    )


def _extents(function: Function) -> Iterator[sympy.Expr]:
    for value in function.values.values():
        yield from _of_type(value.type)
    for op in function.body.walk():
        if isinstance(op, AllocStorage) and not isinstance(op.extents, Unknown):
            yield from op.extents
        elif isinstance(op, AllocTensor):
            yield from () if isinstance(op.shape, Unknown) else op.shape
        elif isinstance(op, (View, MatchCast)):
            yield from _of_type(op.type)
        if isinstance(op, (AllocTensor, View)) and not isinstance(op.offset, Unknown):
            yield op.offset


def _of_type(type_: ValueType) -> Iterator[sympy.Expr]:
    if isinstance(type_, TupleType):
        for one in type_.fields:
            yield from _of_type(one)
    yield from extents_of(type_)
