"""The runtime's 64-bit arithmetic for the size of a tensor or a storage, as a claim."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.facts.asking import arithmetic
from relax_lint.facts.claims import Claim, not_negative
from relax_lint.model.sizes import BITS_PER_BYTE
from relax_lint.model.types import DType
from relax_lint.symbolic.domain import INT64_MAX, Domain
from relax_lint.symbolic.quantity import Shape, Size, Unknown
from relax_lint.symbolic.relations import CACHED
from relax_lint.symbolic.wrapping import compared_within_int64

UINT64_MAX = 2**64 - 1


def no_overflow(extents: Shape, dtype: DType, offset: Size, domain: Domain, *, max_extent: int) -> Claim:
    """The runtime's byte arithmetic does not wrap: the element count in int64, the bits (plus 7,
    `GetDataSize`) in uint64, the end of the tensor in int64.

    Nor is what an extent or the offset is chosen or divided from a number that wrapped around.

    `max_extent` bounds the product of those extents of a shape that real tensors have, as a
    global assumption: otherwise every shape of two symbols would be a finding.
    """
    if isinstance(extents, Unknown):
        return Claim(extents, domain)
    if isinstance(offset, Unknown):
        return Claim(offset, domain)
    bits = dtype.bits * dtype.lanes
    backed = _is_backed((*extents, offset), domain.free)
    condition = _arithmetic_fits(extents, bits, offset, max_extent if backed else None)
    inside = () if backed else _inside(extents, offset, domain.free, max_extent)
    condition = sympy.And(condition, *inside)
    asked = partial(arithmetic, extents, bits, offset, inside, exact=condition != sympy.true)
    return Claim(condition, domain if condition == sympy.true else not_negative(domain, extents), asked)


@lru_cache(maxsize=CACHED)
def computed_extents(
    extents: tuple[sympy.Expr, ...], free: frozenset[sympy.Symbol]
) -> tuple[sympy.Expr, ...]:
    """The extents that are computed from values that anybody may give."""
    return tuple(one for one in extents if not one.is_Atom and one.free_symbols & free)


@lru_cache(maxsize=CACHED)
def _is_backed(quantities: tuple[sympy.Expr, ...], free: frozenset[sympy.Symbol]) -> bool:
    """Whether every symbol of the quantities is an extent of a real tensor."""
    return not any(quantity.free_symbols & free for quantity in quantities)


@lru_cache(maxsize=CACHED)
def _arithmetic_fits(
    extents: tuple[sympy.Expr, ...], bits: int, offset: sympy.Expr, max_extent: int | None
) -> Boolean:
    """The condition of `no_overflow`; `max_extent` bounds the product of the symbolic extents."""
    if max_extent is not None:
        largest = abs(_constant_factor(extents)) * (1 if _is_constant(extents) else max_extent) * bits + 7
        if largest + BITS_PER_BYTE * _largest(offset, max_extent) <= INT64_MAX:
            return sympy.true
    count = sympy.Mul(*extents)
    conditions = [sympy.Le(count, INT64_MAX), sympy.Le(count * bits + 7, UINT64_MAX)]
    if offset != 0:
        conditions.append(sympy.Le(offset * BITS_PER_BYTE + count * bits, BITS_PER_BYTE * INT64_MAX))
    return sympy.And(*conditions)


@lru_cache(maxsize=CACHED)
def _inside(
    extents: tuple[sympy.Expr, ...], offset: sympy.Expr, free: frozenset[sympy.Symbol], max_extent: int
) -> tuple[Boolean, ...]:
    """What has to hold of the numbers inside the extents and the offset. An empty tensor has no elements that
    speak for its other extents.
    """
    alone = computed_extents(extents, free) if sympy.Mul(*extents) == 0 else ()
    within = [sympy.Le(extent, INT64_MAX) for extent in alone]
    return (*within, *compared_within_int64((*extents, offset), free, max_extent))


def _is_constant(extents: tuple[sympy.Expr, ...]) -> bool:
    return all(extent.is_Integer for extent in extents)


def _largest(offset: sympy.Expr, max_extent: int) -> int:
    """The largest value of an offset, a sum of products of extents, each product up to `max_extent`."""
    terms = sympy.Add.make_args(offset)
    return sum(abs(_constant_factor((term,))) * (1 if term.is_Integer else max_extent) for term in terms)


def _constant_factor(extents: Iterable[sympy.Expr]) -> int:
    """The constant that can be taken out of the product of the extents."""
    factor = 1
    for extent in extents:
        factor *= int(extent) if extent.is_Integer else int(extent.as_content_primitive()[0])
    return factor
