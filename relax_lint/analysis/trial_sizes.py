"""The sizes that a function is tried at."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TypeAlias

import sympy

from relax_lint.model.program import Function
from relax_lint.model.types import TensorType, TupleType, ValueType
from relax_lint.symbolic.quantity import Size, Unknown

Sizes: TypeAlias = "Mapping[sympy.Symbol, sympy.Integer]"

_TURNS = ((2, 3, 5), (4,), (1,), (1024,), (3, 5, 2), (16,), (128,), (4096,))
"""What the symbols are, in turn. The even ones are there for what has to be divided, or to be the same."""
_ENOUGH = 5
"""So many of them are tried."""


def sizes_to_try(function: Function) -> tuple[Sizes, ...]:
    """Some that contradict no fact of a function; one that is empty where it has no symbols."""
    symbols = sorted((info.symbol for info in function.symbols), key=str)
    if not symbols:
        return ({},)
    points = (
        {symbol: sympy.Integer(turn[at % len(turn)]) for at, symbol in enumerate(symbols)} for turn in _TURNS
    )
    return tuple(islice((sizes for sizes in points if _is_possible(function, sizes)), _ENOUGH))


def _is_possible(function: Function, sizes: Sizes) -> bool:
    return not any(fact.condition.xreplace(sizes) == sympy.false for fact in function.facts)


def number_at(size: Size | None, sizes: Sizes) -> int | None:
    """What a size is at some sizes; None where that is no number."""
    found = None if size is None or isinstance(size, Unknown) else size.xreplace(dict(sizes))
    return None if found is None or not found.is_Integer else int(found)


def distance_at(one: Size, other: Size, sizes: Sizes) -> int | None:
    """How much larger a size is than another one at some sizes; None where that is not known."""
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return None
    return number_at(one - other, sizes)


def sized(type_: ValueType, sizes: Sizes) -> ValueType:
    """A type at some sizes."""
    if isinstance(type_, TupleType):
        return TupleType(tuple(sized(field, sizes) for field in type_.fields)) if sizes else type_
    if not isinstance(type_, TensorType) or type_.shape is None or not sizes:
        return type_
    return TensorType(
        tuple(extent.xreplace(sizes) for extent in type_.shape), type_.dtype, type_.ndim, type_.device
    )
