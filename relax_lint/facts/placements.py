"""Tensors on storages: what must hold for each of them, as claims for the provers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.program import AllocStorage, AllocTensor, Shape, Size, Unknown
from relax_lint.model.sizes import BITS_PER_BYTE, effective_capacity
from relax_lint.model.types import DType
from relax_lint.symbolic.domain import INT64_MAX, Domain, Fact, FactKind
from relax_lint.symbolic.printing import condition_text, expr_text
from relax_lint.symbolic.relations import at_least_zero as at_least_zero
from relax_lint.symbolic.relations import at_most as at_most
from relax_lint.symbolic.relations import none_negative
from relax_lint.vm.allocators import Allocator

UINT64_MAX = 2**64 - 1

# A model asks the same few questions thousands of times, and building a sympy relation costs more than
# looking one up.
_CACHED = 1 << 14


@dataclass(frozen=True)
class Claim:
    """A condition to be judged over a domain; Unknown when the IR does not say enough to state it."""

    condition: Boolean | Unknown
    domain: Domain


@dataclass(frozen=True)
class Placement:
    """One tensor on the storage that it was allocated on (several, when a branch decides which)."""

    tensor: AllocTensor
    storages: tuple[AllocStorage, ...] | Unknown
    domain: Domain
    page_size: int

    @property
    def storage(self) -> AllocStorage | None:
        """The storage to name in messages."""
        return None if isinstance(self.storages, Unknown) else self.storages[0]

    @cached_property
    def region(self) -> Domain:
        """The part of the domain on which offset and extents are not negative (those of the storage
        too, see `fits`): there the question of the capacity is asked; the rest is the business of
        the rules about negative numbers.
        """
        extents = () if isinstance(self.tensor.shape, Unknown) else self.tensor.shape
        offset = () if isinstance(self.tensor.offset, Unknown) else (self.tensor.offset,)
        return not_negative(self.domain, (*extents, *offset))

    @cached_property
    def end(self) -> Size:
        """offset + bytes: the first byte behind the tensor, counted from the start of the storage."""
        if isinstance(self.tensor.bytes, Unknown):
            return self.tensor.bytes
        if isinstance(self.tensor.offset, Unknown):
            return self.tensor.offset
        return self.tensor.offset + self.tensor.bytes

    def fits(self, allocator: Allocator = Allocator.NAIVE) -> tuple[Claim, ...]:
        """offset + bytes <= capacity, one claim per storage that the tensor may be on. The naive
        allocator's capacity is the declared size.
        """
        known = self._fitting.get(allocator)
        if known is None:
            known = self._fitting[allocator] = self._claims(allocator)
        return known

    @cached_property
    def _fitting(self) -> dict[Allocator, tuple[Claim, ...]]:
        return {}

    def _claims(self, allocator: Allocator) -> tuple[Claim, ...]:
        if isinstance(self.storages, Unknown):
            return (Claim(self.storages, self.region),)
        return tuple(self._fits(storage, allocator) for storage in self.storages)

    def _fits(self, storage: AllocStorage, allocator: Allocator) -> Claim:
        if isinstance(self.end, Unknown):
            return Claim(self.end, self.region)
        if isinstance(storage.size, Unknown):
            return Claim(storage.size, self.region)
        capacity = _capacity(allocator, storage.size, self.page_size)
        extents = () if isinstance(storage.extents, Unknown) else storage.extents
        return Claim(at_most(self.end, capacity), not_negative(self.region, extents))

    @property
    def empty(self) -> Boolean | None:
        """The condition under which the tensor has no bytes."""
        return None if isinstance(self.tensor.bytes, Unknown) else sympy.Le(self.tensor.bytes, 0)


def not_negative(domain: Domain, quantities: Iterable[sympy.Expr]) -> Domain:
    """The part of a domain on which the quantities are >= 0."""
    conditions = [at_least_zero(q) for q in quantities if not (q.is_Integer and int(q) >= 0)]
    return domain.with_facts(_judged_elsewhere(c) for c in conditions if c not in domain.conditions)


@lru_cache(maxsize=_CACHED)
def _judged_elsewhere(condition: Boolean) -> Fact:
    return Fact(condition, FactKind.ENFORCED, f"{condition_text(condition)} (judged by RLX104)")


def no_negative_extent(extents: Shape, domain: Domain) -> Claim:
    """Every extent is >= 0."""
    if isinstance(extents, Unknown):
        return Claim(extents, domain)
    return Claim(none_negative(extents), domain)


def no_overflow(extents: Shape, dtype: DType, offset: Size, domain: Domain, *, max_extent: int) -> Claim:
    """The runtime's byte arithmetic does not wrap: the element count in int64, the bits (plus 7,
    `GetDataSize`) in uint64, the end of the tensor in int64.

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
    return Claim(condition, domain if condition == sympy.true else not_negative(domain, extents))


@lru_cache(maxsize=_CACHED)
def _is_backed(quantities: tuple[sympy.Expr, ...], free: frozenset[sympy.Symbol]) -> bool:
    """Whether every symbol of the quantities is an extent of a real tensor."""
    return not any(quantity.free_symbols & free for quantity in quantities)


@lru_cache(maxsize=_CACHED)
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


_capacity = lru_cache(maxsize=_CACHED)(effective_capacity)


@lru_cache(maxsize=_CACHED)
def quantity(size: Size, unit: str = "bytes") -> str:
    """A size for a message: ``16 bytes``, ``1 byte``, `` `4*m` bytes``, ``an unknown number of bytes``."""
    if isinstance(size, Unknown):
        return f"an unknown number of {unit}"
    if size.is_Integer:
        return f"{int(size)} {unit if int(size) != 1 else unit.removesuffix('s')}"
    return f"`{expr_text(size)}` {unit}"
