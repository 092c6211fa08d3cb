"""RLX404: does the VM allocate the dtype of every tensor, and count its bytes as kernels do?

Events: a tensor, and a tensor of a dtype that the VM counts differently from kernels. Claim for the
second: its storage has room for the bytes that kernels count. Verdict: for the first by its dtype, for
the second that of the provers, and `always-wrong` only where a kernel fills the tensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import sympy

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.asking import fitting
from relax_lint.facts.claims import Claim
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.kernels import KernelFacts
from relax_lint.facts.placement import Placement, PlacementFacts
from relax_lint.facts.words import quantity
from relax_lint.model.operations import AllocStorage, AllocTensor
from relax_lint.model.sizes import elements
from relax_lint.model.types import DType
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.symbolic.decision import Decision, Proof, certain
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.symbolic.relations import at_most

PACKED_DTYPE = "uint1"
"""Counted with 1 bit for each element by the VM, and with 1 byte by kernels."""
_NOT_FILLED = Proof(Prover.UNDECIDED, "no kernel is known to fill the tensor, and else it has room")


class PackingFacts:
    """The tensors of one function by how their bytes are counted."""

    def __init__(
        self, flow: FunctionFlow, placement: PlacementFacts, kernels: KernelFacts, judge: Judge
    ) -> None:
        self._flow = flow
        self._placement = placement
        self._kernels = kernels
        self._judge = judge

    def allocatable(self) -> Iterator[Decided[AllocTensor]]:
        """Every tensor: the VM allocates its dtype."""
        for op in self._placement.tensors:
            verdict = Verdict.ALWAYS_FINE if is_allocatable(op.dtype) else Verdict.ALWAYS_WRONG
            yield Decided(op, certain(verdict, f"{op.dtype.bits} bits"))

    def roomy(self) -> Iterator[Decided[Placement]]:
        """Every tensor that is counted differently: its storage has room for it as kernels count it."""
        for placement in self._placement.placements:
            if placement.tensor.dtype.name == PACKED_DTYPE:
                decision = self._judge.judge(*_has_room(placement))
                if decision.verdict is Verdict.ALWAYS_WRONG and not self.is_filled(placement.tensor):
                    decision = Decision(Verdict.NEEDS_RUNTIME_CHECK, _NOT_FILLED, decision.reachable)
                yield Decided(placement, decision)

    def is_filled(self, op: AllocTensor) -> bool:
        """Whether a kernel writes every element of a tensor wherever the tensor is made."""
        register, path = self._flow.aliases.register, self._flow.paths.of(op)
        return any(
            operand.value is not None
            and register(operand.value) == register(op.result)
            and use.kernel.whole_writes.get(position) == sympy.true
            for use in self._kernels.matching
            if self._flow.paths.of(use.call) == path
            for position, operand in enumerate(use.operands)
        )

    def unpacked(self, op: AllocTensor) -> str:
        """The bytes of a tensor as kernels count them, for a message."""
        return quantity(_unpacked_bytes(op))


def is_allocatable(dtype: DType) -> bool:
    """Whether the bits of an element are whole bytes and a power of two, or the dtype is uint1
    (`VerifyDataType` in TVM's src/runtime/memory/memory_manager.cc).
    """
    bits = dtype.bits
    return _is_packed(dtype) or (bits % 8 == 0 and bits & (bits - 1) == 0)


def _is_packed(dtype: DType) -> bool:
    """`uint1`, with any number of lanes."""
    return dtype.name.partition("x")[0] == PACKED_DTYPE


def _unpacked_bytes(op: AllocTensor) -> Size:
    return op.shape if isinstance(op.shape, Unknown) else elements(op.shape) * op.dtype.storage_bytes


def _has_room(placement: Placement) -> tuple[Claim, ...]:
    size, offset, storages = _unpacked_bytes(placement.tensor), placement.tensor.offset, placement.storages
    if isinstance(size, Unknown):
        return (Claim(size, placement.region),)
    if isinstance(offset, Unknown):
        return (Claim(offset, placement.region),)
    if isinstance(storages, Unknown):
        return (Claim(storages, placement.region),)
    return tuple(_fits(placement, offset, size, storage) for storage in storages)


def _fits(placement: Placement, offset: sympy.Expr, size: sympy.Expr, storage: AllocStorage) -> Claim:
    if isinstance(storage.size, Unknown):
        return Claim(storage.size, placement.region)
    asked = partial(fitting, placement.tensor, size, storage, storage.size)
    return Claim(at_most(offset + size, storage.size), placement.region, asked)
