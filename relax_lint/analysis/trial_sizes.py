"""The sizes that a function is tried at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.program import Function
from relax_lint.model.types import TensorType, TupleType, ValueType
from relax_lint.symbolic.knowledge import Knowledge
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.symbolic.search import QUICK, Search
from relax_lint.symbolic.work import STAGE, allowed

Sizes: TypeAlias = "Mapping[sympy.Symbol, sympy.Integer]"

_TURNS = ((2, 3, 5), (4,), (1,), (1024,), (3, 5, 2), (16,), (128,), (4096,))
"""What the symbols are, in turn. The even ones are there for what has to be divided, or to be the same."""
_ENOUGH = 5
"""So many of them are tried."""
_FEW = 2
"""Where fewer are possible, others are looked for."""


def sizes_to_try(function: Function, *where: Boolean) -> tuple[Sizes, ...]:
    """Some that contradict no fact of a function, and at which conditions hold; an empty one where it has no
    symbols.
    """
    symbols = sorted((info.symbol for info in function.symbols), key=str)
    conditions = (*(fact.condition for fact in function.facts), *where)
    if not symbols:
        return () if sympy.false in conditions else ({},)
    points = (
        {symbol: sympy.Integer(turn[at % len(turn)]) for at, symbol in enumerate(symbols)} for turn in _TURNS
    )
    usual = (sizes for sizes in points if not any(one.xreplace(sizes) == sympy.false for one in conditions))
    found = tuple(islice(usual, _ENOUGH))
    return found if len(found) >= _FEW else (*_smallest(symbols, conditions), *found)


def _smallest(symbols: Sequence[sympy.Symbol], conditions: Sequence[Boolean]) -> Iterator[Sizes]:
    """The smallest sizes at which conditions hold, and the smallest ones that are twice as large."""
    with allowed(STAGE):
        search = Search(Knowledge(symbols, conditions))
        point = search.smallest(sympy.And(*conditions), QUICK).point
        if point is None:
            return
        yield _at(symbols, point)
        larger = (sympy.Ge(symbol, 2 * extent) for symbol, extent in zip(symbols, point, strict=True))
        point = search.smallest(sympy.And(*conditions, *larger), QUICK).point
        if point is not None:
            yield _at(symbols, point)


def _at(symbols: Sequence[sympy.Symbol], point: Sequence[int]) -> Sizes:
    return dict(zip(symbols, map(sympy.Integer, point), strict=True))


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
