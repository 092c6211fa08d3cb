"""Dtypes that are not made of whole bytes: what the VM allocates, and where kernels count otherwise."""

from __future__ import annotations

from collections.abc import Iterable

import sympy

from relax_lint.facts.placements import Claim, Placement, at_most, quantity
from relax_lint.model.program import AllocStorage, AllocTensor, Size, Unknown
from relax_lint.model.sizes import elements

PACKED_DTYPE = "uint1"
"""Counted with 1 bit for each element by the VM, and with 1 byte by kernels."""


class PackingFacts:
    """The tensors of one function by how their bytes are counted."""

    def __init__(self, placements: Iterable[Placement]) -> None:
        self.packed = tuple(p for p in placements if p.tensor.dtype.name == PACKED_DTYPE)
        """The tensors on storages that the VM and kernels count differently."""

    def is_allocatable(self, op: AllocTensor) -> bool:
        """Whether the VM allocates the tensor's dtype: its bits are whole bytes and a power of two, or it is
        uint1 (`VerifyDataType` in TVM's src/runtime/memory/memory_manager.cc).
        """
        bits = op.dtype.bits
        return op.dtype.name == PACKED_DTYPE or (bits % 8 == 0 and bits & (bits - 1) == 0)

    def unpacked(self, op: AllocTensor) -> str:
        """The bytes of a tensor as kernels count them, for a message."""
        return quantity(_unpacked_bytes(op))

    def has_room(self, placement: Placement) -> tuple[Claim, ...]:
        """The storage has room for the tensor as kernels count it."""
        size, offset, storages = (
            _unpacked_bytes(placement.tensor),
            placement.tensor.offset,
            placement.storages,
        )
        if isinstance(size, Unknown):
            return (Claim(size, placement.region),)
        if isinstance(offset, Unknown):
            return (Claim(offset, placement.region),)
        if isinstance(storages, Unknown):
            return (Claim(storages, placement.region),)
        return tuple(_has_room(placement, offset + size, storage) for storage in storages)


def _unpacked_bytes(op: AllocTensor) -> Size:
    return op.shape if isinstance(op.shape, Unknown) else elements(op.shape) * op.dtype.storage_bytes


def _has_room(placement: Placement, end: sympy.Expr, storage: AllocStorage) -> Claim:
    if isinstance(storage.size, Unknown):
        return Claim(storage.size, placement.region)
    return Claim(at_most(end, storage.size), placement.region)
