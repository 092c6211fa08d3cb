"""The size that a storage needs for the tensors on it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import sympy

from relax_lint.analysis.definitions import Definitions
from relax_lint.analysis.liveness import users_of, values_given
from relax_lint.facts.claims import Claim
from relax_lint.facts.function import FunctionFacts
from relax_lint.facts.placement import Placement
from relax_lint.facts.size_arithmetic import no_overflow
from relax_lint.fixes.changes import ResizeStorage
from relax_lint.fixes.conditions import is_writable_size
from relax_lint.fixes.text.tvmscript import ALLOC_STORAGE
from relax_lint.model.arguments import BYTE
from relax_lint.model.operations import AllocStorage, AllocTensor, Op, ValueId
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.domain import Domain
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.relations import at_least_zero, at_most

MAX_TENSORS = 64
"""The tensors on one storage that are compared with each other."""
MAX_ALTERNATIVES = 4
"""The terms of the largest size that is worth writing down."""


class Resizing:
    """The sizes of the storages of one function."""

    def __init__(self, facts: FunctionFacts, definitions: Definitions) -> None:
        self._facts = facts
        self._function = facts.function
        self._definitions = definitions
        self._known: dict[ValueId, ResizeStorage | None] = {}

    def on(self, storage: AllocStorage) -> tuple[Placement, ...]:
        """The tensors that may be on a storage."""
        return tuple(self._on.get(storage.result, ()))

    @cached_property
    def _on(self) -> dict[ValueId, list[Placement]]:
        """The tensors by the storage that they may be on."""
        on: dict[ValueId, list[Placement]] = {}
        for placement in self._facts.placements:
            for storage in () if isinstance(placement.storages, Unknown) else placement.storages:
                on.setdefault(storage.result, []).append(placement)
        return on

    @cached_property
    def _users(self) -> dict[ValueId, list[Op]]:
        return users_of(self._function)

    @cached_property
    def _given(self) -> frozenset[ValueId]:
        """The values that others get: callers, branches, and the functions inside."""
        return values_given(self._function) | self._facts.flow.used_inside

    def resize(self, placement: Placement) -> ResizeStorage | None:
        """The change after which every tensor on the storage always fits; None where none is known."""
        if isinstance(placement.storages, Unknown) or len(placement.storages) != 1:
            return None
        storage = placement.storages[0]
        if storage.result not in self._known:
            self._known[storage.result] = self._resize(storage)
        return self._known[storage.result]

    def _resize(self, storage: AllocStorage) -> ResizeStorage | None:
        tensors = self.on(storage)
        if (
            storage.level not in ALLOC_STORAGE
            or storage not in self._own
            or len(tensors) > MAX_TENSORS
            or not self._is_private(storage, tensors)
        ):
            return None
        unit = 1 if storage.size_in_bytes else storage.dtype.storage_bytes
        needed = self._largest(tensors)
        if needed is None:
            return None
        extent = sympy.Max(*(_in_units(size, unit) for size in needed))
        known = extent.free_symbols <= self._definitions.known_at(storage.place)
        if not known or not is_writable_size(extent):
            return None
        fits = all(self._always(at_most(p.end, extent * unit), p.region) for p in tensors)
        return ResizeStorage(storage, extent) if fits and self._is_sound(extent, storage) else None

    def _is_sound(self, extent: sympy.Expr, storage: AllocStorage) -> bool:
        """Whether a size can neither be negative nor overflow, which would only be another finding."""
        domain, limit = self._facts.domain_at(storage.place), self._facts.config.max_extent
        unit = BYTE if storage.size_in_bytes else storage.dtype
        arithmetic = no_overflow((extent,), unit, sympy.Integer(0), domain, max_extent=limit)
        return self._always(at_least_zero(extent), domain) and self._holds(arithmetic)

    @cached_property
    def _own(self) -> frozenset[AllocStorage]:
        return frozenset(self._function.body.of(AllocStorage))

    def _is_private(self, storage: AllocStorage, tensors: Sequence[Placement]) -> bool:
        """Whether all that is done with a storage is to put these tensors on it."""
        known = {placement.tensor.result for placement in tensors}
        users = self._users.get(storage.result, ())
        on_it = all(isinstance(op, AllocTensor) and op.result in known for op in users)
        direct = all(placement.tensor.storage == storage.result for placement in tensors)
        return on_it and direct and storage.result not in self._given

    def _largest(self, tensors: Sequence[Placement]) -> list[sympy.Expr] | None:
        """The ends of the tensors, in bytes, without those that another one is never below."""
        ends: dict[sympy.Expr, Placement] = {}
        for placement in tensors:
            if isinstance(placement.end, Unknown):
                return None
            ends.setdefault(placement.end, placement)
        constants = [end for end in ends if end.is_Integer]
        if constants:
            ends = {end: p for end, p in ends.items() if not end.is_Integer or end == max(constants)}
        kept = list(ends)
        for end, placement in ends.items():
            others = [other for other in kept if other != end]
            if any(self._always(at_most(end, other), placement.region) for other in others):
                kept = others
        return kept if len(kept) <= MAX_ALTERNATIVES else None

    def _always(self, condition: sympy.Basic, domain: Domain) -> bool:
        return self._holds(Claim(condition, domain))

    def _holds(self, claim: Claim) -> bool:
        decision = self._facts.judge(claim)
        return decision.verdict is Verdict.ALWAYS_FINE and not decision.assumptions


def _in_units(size: sympy.Expr, unit: int) -> sympy.Expr:
    """`size` bytes in whole units of so many bytes."""
    return size if unit == 1 else FloorDiv(size + (unit - 1), sympy.Integer(unit))
