"""The sizes that a function is tried at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.trial_tensors import Unclear
from relax_lint.model.operations import ValueId
from relax_lint.model.program import Function
from relax_lint.model.types import PrimType, ShapeType, TensorType, TupleType, ValueType, extents_of
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


def sizes_to_try(function: Function, *known: Boolean) -> tuple[Sizes, ...]:
    """Some that contradict nothing that is known of a function; an empty one where it has no symbols."""
    symbols, conditions = _asked_of(function, known)
    if not symbols:
        return () if sympy.false in conditions else ({},)
    found = tuple(_usual(symbols, conditions))
    return found if len(found) >= _FEW else (*_smallest(symbols, conditions), *found)


def sizes_struck(function: Function, apart: Boolean, *known: Boolean) -> tuple[Sizes, ...]:
    """The same where two ranges of bytes are not apart: the smallest ones, and each symbol alone larger."""
    symbols, conditions = _asked_of(function, (sympy.Not(apart), *known))
    if not symbols:
        return () if sympy.false in conditions else ({},)
    found = [*_smallest(symbols, conditions), *_usual(symbols, conditions)]
    return tuple(sizes for number, sizes in enumerate(found) if sizes not in found[:number])


def has_sizes(function: Function) -> bool:
    """Whether symbols decide how large any tensor is, or which number any is: some sizes are tried then."""
    types = [function.type_of(value) for value in function.values]
    return any(map(_has_symbols, types))


def _has_symbols(type_: ValueType) -> bool:
    if isinstance(type_, TupleType):
        return any(map(_has_symbols, type_.fields))
    if isinstance(type_, TensorType):
        return type_.shape is None or any(extent.free_symbols for extent in type_.shape)
    return isinstance(type_, PrimType) and (type_.value is None or bool(type_.value.free_symbols))


def _asked_of(function: Function, known: Sequence[Boolean]) -> tuple[list[sympy.Symbol], list[Boolean]]:
    symbols = sorted((info.symbol for info in function.symbols), key=str)
    # What holds at an operation says again what holds everywhere.
    return symbols, [*dict.fromkeys((*(fact.condition for fact in function.facts), *known))]


def _usual(symbols: Sequence[sympy.Symbol], conditions: Sequence[Boolean]) -> Iterator[Sizes]:
    points = (
        {symbol: sympy.Integer(turn[at % len(turn)]) for at, symbol in enumerate(symbols)} for turn in _TURNS
    )
    possible = (one for one in points if not any(each.xreplace(one) == sympy.false for each in conditions))
    return islice(possible, _ENOUGH)


def _smallest(symbols: Sequence[sympy.Symbol], conditions: Sequence[Boolean]) -> Iterator[Sizes]:
    """The smallest sizes that are possible, those that are twice as large, and those of which one is."""
    condition = sympy.And(*conditions)
    with allowed(STAGE):
        search = Search(Knowledge(symbols, conditions))
        first = search.smallest(condition, QUICK).point
        if first is None:
            return
        yield _at(symbols, first)
        larger = [sympy.Ge(symbol, 2 * extent + 1) for symbol, extent in zip(symbols, first, strict=True)]
        for more in (sympy.And(*larger), *(larger if len(larger) > 1 else ())):
            point = search.smallest(sympy.And(condition, more), QUICK).point
            if point is not None:
                yield _at(symbols, point)


def _at(symbols: Sequence[sympy.Symbol], point: Sequence[int]) -> Sizes:
    return dict(zip(symbols, map(sympy.Integer, point), strict=True))


def number_at(size: Size | None, sizes: Sizes) -> int | None:
    """A size with numbers for its symbols; None where a symbol is left."""
    found = None if size is None or isinstance(size, Unknown) else size.xreplace(dict(sizes))
    return None if found is None or not found.is_Integer else int(found)


def distance_at(one: Size, other: Size, sizes: Sizes) -> int | None:
    """How much larger a size is than another one at some sizes; None where that is not known."""
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return None
    return number_at(one - other, sizes)


def sized(type_: ValueType, sizes: Sizes) -> ValueType:
    """A type at some sizes."""
    if not sizes:
        return type_
    if isinstance(type_, TupleType):
        return TupleType(tuple(sized(field, sizes) for field in type_.fields))
    if isinstance(type_, PrimType) and type_.value is not None:
        return PrimType(type_.dtype, type_.value.xreplace(sizes))
    if isinstance(type_, ShapeType) and type_.extents is not None:
        return ShapeType(tuple(extent.xreplace(sizes) for extent in type_.extents))
    if not isinstance(type_, TensorType) or type_.shape is None:
        return type_
    return TensorType(
        tuple(extent.xreplace(sizes) for extent in type_.shape), type_.dtype, type_.ndim, type_.device
    )


def sizes_inside(function: Function, given: Mapping[ValueId, ValueType]) -> Sizes:
    """The sizes that a function is called with whose parameters are given values of some types. Raises
    `Unclear` where they do not fit: the call fails, or it is not checked.
    """
    pairs = [pair for value, type_ in given.items() for pair in _pairs(function.type_of(value), type_)]
    known = {want: have for want, have in pairs if want.is_Symbol and have.is_Integer}
    if any(want.xreplace(known) != have for want, have in pairs if have.is_Integer):
        raise Unclear
    return known


def _pairs(declared: ValueType, given: ValueType) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
    """The extents of two types, side by side."""
    if isinstance(declared, TupleType) and isinstance(given, TupleType):
        for one, other in zip(declared.fields, given.fields, strict=False):
            yield from _pairs(one, other)
    else:
        yield from zip(extents_of(declared), extents_of(given), strict=False)
