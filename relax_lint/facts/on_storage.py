"""One tensor on its storage, and the question whether it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property, lru_cache, partial

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.asking import fitting
from relax_lint.facts.claims import Claim, not_negative
from relax_lint.model.operations import AllocStorage, AllocTensor
from relax_lint.model.sizes import effective_capacity
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import Decision, FirstFailure
from relax_lint.symbolic.domain import Domain
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.symbolic.relations import CACHED, at_most
from relax_lint.vm.allocators import Allocator
from relax_lint.vm.scopes import has_pages

_ZERO = sympy.Integer(0)
_capacity = lru_cache(maxsize=CACHED)(effective_capacity)


class Alike:
    """What is asked about tensors of one shape at one offset on one storage, for all of them: the layers of a
    model repeat each other.
    """

    def __init__(self) -> None:
        self.fits: dict[Allocator, tuple[_Fits, ...]] = {}
        self.failures: Mapping[str, FirstFailure] | None = None
        self.by_size: Decision | None = None
        """Whether offset + bytes <= declared size."""
        self.decided: tuple[Decision, tuple[Presumption, ...], bool] | None = None
        """Whether they fit: the verdict, what is presumed, and whether only empty ones do."""


@record(frozen=True)
class _Fits:
    """offset + bytes <= capacity, where that is asked; the storage and its capacity where they are known."""

    condition: Boolean | Unknown
    domain: Domain
    within: tuple[AllocStorage, sympy.Expr] | None = None

    def claim(self, tensor: AllocTensor) -> Claim:
        """The claim about one tensor."""
        if self.within is None:
            return Claim(self.condition, self.domain)
        return Claim(self.condition, self.domain, partial(fitting, tensor, tensor.bytes, *self.within))


@record(frozen=True)
class Placement:
    """One tensor on the storage that it was allocated on (several, when a branch decides which)."""

    tensor: AllocTensor
    storages: tuple[AllocStorage, ...] | Unknown
    domain: Domain
    page_size: int
    alike: Alike = field(default_factory=Alike, compare=False, repr=False)

    @property
    def each(self) -> tuple[AllocStorage, ...]:
        """The storages that the tensor may be on, as far as they are known, in the order of the text."""
        if isinstance(self.storages, Unknown):
            return ()
        return tuple(sorted(self.storages, key=lambda storage: storage.place.index))

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
        """offset + bytes: the first byte after the tensor, counted from the start of the storage."""
        if isinstance(self.tensor.bytes, Unknown):
            return self.tensor.bytes
        if isinstance(self.tensor.offset, Unknown):
            return self.tensor.offset
        return self.tensor.offset + self.tensor.bytes

    def fits(self, allocator: Allocator = Allocator.NAIVE) -> tuple[Claim, ...]:
        """offset + bytes <= capacity, one claim per storage that the tensor may be on. The naive
        allocator's capacity is the declared size.
        """
        known = self.alike.fits.get(allocator)
        if known is None:
            known = self.alike.fits[allocator] = self._all_fit(allocator)
        return tuple([one.claim(self.tensor) for one in known])

    def _all_fit(self, allocator: Allocator) -> tuple[_Fits, ...]:
        if isinstance(self.storages, Unknown):
            return (_Fits(self.storages, self.region),)
        return tuple(self._fits(storage, allocator) for storage in self.storages)

    def _fits(self, storage: AllocStorage, allocator: Allocator) -> _Fits:
        if isinstance(self.end, Unknown):
            return _Fits(self.end, self.region)
        if isinstance(storage.size, Unknown):
            return _Fits(storage.size, self.region)
        paged = allocator if has_pages(storage.scope) else Allocator.NAIVE
        capacity = _capacity(paged, storage.size, self.page_size)
        extents = () if isinstance(storage.extents, Unknown) else storage.extents
        condition = at_most(self.end, capacity)
        return _Fits(condition, not_negative(self.region, extents), (storage, capacity))

    @property
    def empty(self) -> Boolean | None:
        """The condition under which the tensor has no bytes."""
        return None if isinstance(self.tensor.bytes, Unknown) else at_most(self.tensor.bytes, _ZERO)
