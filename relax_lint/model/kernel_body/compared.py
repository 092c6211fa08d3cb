"""What of an expression has to be held by its type for the whole to be what it is for unbounded integers.

Sums and products may wrap around on the way where the result is a number of the type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relax_lint.symbolic.translate import Untranslatable, range_of_type
from relax_lint.vm import nodes

_COMPARISONS = frozenset(("EQ", "NE", "LT", "LE", "GT", "GE"))
_RING = frozenset(("Add", "Sub", "Mul"))
_WIDEST = 64
"""In fewer bits what wraps around has no meaning for the translation, but for a cast."""


def numbers_of(condition: Any) -> Iterator[tuple[Any, int]]:
    """The parts of a condition that have to be held, each with the number of bits that there are."""
    kind = nodes.expression_kind(condition)
    if kind in _COMPARISONS:
        yield from held_in(condition.a)
        yield from held_in(condition.b)
        return
    for part in nodes.children_of(condition):
        if hasattr(part, "ty"):
            yield from numbers_of(part)


def held_in(number: Any, *, is_kept: bool = True) -> Iterator[tuple[Any, int]]:
    """The same of a number; unless it `is_kept` only its low bits count."""
    if isinstance(number, int) or nodes.is_kernel_constant(number) or nodes.is_load(number):
        return
    kind, dtype = nodes.expression_kind(number), str(getattr(number.ty, "dtype", "handle"))
    is_ring, is_cast = kind in _RING, kind == "Cast"
    narrow = is_cast and _bits(dtype) < _bits(str(number.value.ty.dtype))
    if narrow:
        yield number.value, _bits(dtype)
    elif (is_ring or kind == "LShift") and is_kept and _bits(dtype) == _WIDEST:
        yield number, _WIDEST
    for part in nodes.children_of(number):
        if not isinstance(part, int) and hasattr(part, "ty"):
            yield from held_in(part, is_kept=not (is_ring or narrow))


def _bits(dtype: str) -> int:
    try:
        low, high = range_of_type(dtype)
    except Untranslatable:
        return 0
    return (high - low).bit_length()
