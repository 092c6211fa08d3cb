"""RLX404: does the VM allocate the dtype of every tensor, and count its bytes as kernels do?

Events: a tensor, and a tensor or a byte view of a dtype that the VM counts differently from kernels. Claim
for the second: the storage, or the source of the view, has room for the bytes that kernels count. Verdict:
for the first by its dtype, for the second that of the provers, and `always-wrong` only where a kernel fills
the tensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import sympy

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.asking import fitting
from relax_lint.facts.claims import Claim
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.kernels import KernelFacts
from relax_lint.facts.placement import Placement, PlacementFacts
from relax_lint.facts.words import quantity
from relax_lint.model.operations import AllocStorage, AllocTensor, Op, View
from relax_lint.model.sizes import elements, is_packed, kernel_bytes
from relax_lint.model.types import DType, TensorType
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.symbolic.decision import Decision, Proof, certain
from relax_lint.symbolic.quantity import Shape, Size, Unknown
from relax_lint.symbolic.relations import at_most
from relax_lint.vm.builtins import ViewKind

PACKED_DTYPE = "uint1"
"""What the VM allocates of less than a byte: it counts 1 bit for each lane, and kernels 1 byte."""
_LANES_MOVE = Unknown("kernels begin in other bytes of it than the VM, since they count a byte per lane")
_NO_TYPE = Unknown("the type of the view or of its source is unknown in the IR")
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
            planned = as_planned(op.shape, op.dtype, op, self._judge) if op.storage is None else None
            yield Decided(op, planned or by_dtype(op.dtype))

    def roomy(self) -> Iterator[Decided[Placement]]:
        """Every tensor that is counted differently: its storage has room for it as kernels count it."""
        for placement in self._placement.placements:
            if _is_one_bit(placement.tensor.dtype):
                decision = self._judge.judge(*_has_room(placement))
                if decision.verdict is Verdict.ALWAYS_WRONG and not self.is_filled(placement.tensor):
                    decision = Decision(Verdict.NEEDS_RUNTIME_CHECK, _NOT_FILLED, decision.reachable)
                yield Decided(placement, decision)

    def roomy_views(self) -> Iterator[Decided[View]]:
        """Every byte view as elements of less than a byte: its source has room for them as kernels count."""
        for op in self._flow.function.body.of(View):
            target = op.claimed or op.type
            if op.kind is not ViewKind.MEMORY_VIEW or not isinstance(target, TensorType):
                continue
            if target.dtype is None or not is_packed(target.dtype):
                continue
            source = self._flow.function.tensor_type(op.source)
            decision = self._judge.judge(self._view_has_room(op, target, target.dtype, source))
            if decision.verdict is Verdict.ALWAYS_WRONG:
                decision = Decision(Verdict.NEEDS_RUNTIME_CHECK, _NOT_FILLED, decision.reachable)
            yield Decided(op, decision)

    def _view_has_room(self, op: View, target: TensorType, dtype: DType, source: TensorType | None) -> Claim:
        domain = self._judge.domain_at(op.place)
        if source is None or source.shape is None or source.dtype is None or target.shape is None:
            return Claim(_NO_TYPE, domain)
        if isinstance(op.offset, Unknown):
            return Claim(op.offset, domain)
        starts = self._flow.aliases.offsets.of(op.source), op.offset
        if dtype.lanes > 1 and any(start != 0 for start in starts):
            return Claim(_LANES_MOVE, domain)
        end = op.offset + kernel_bytes(target.shape, dtype)
        return Claim(at_most(end, kernel_bytes(source.shape, source.dtype)), domain)

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


def by_dtype(dtype: DType) -> Decision:
    """Whether the VM allocates a dtype."""
    verdict = Verdict.ALWAYS_FINE if is_allocatable(dtype) else Verdict.ALWAYS_WRONG
    return certain(verdict, f"{dtype.bits} bits")


def as_planned(shape: Shape, dtype: DType, op: Op, judge: Judge) -> Decision | None:
    """Whether a tensor has room for what kernels access on the storage that TVM will make for it, with the
    bits of each element in whole bytes; None where that is no question.
    """
    if dtype.lanes == 1 or isinstance(shape, Unknown) or not _is_one_bit(dtype):
        return None
    room = at_most(kernel_bytes(shape, dtype), elements(shape) * dtype.storage_bytes)
    return judge.judge_event(judge.claim_at(room, op), Certainty.MAY, _NOT_FILLED.detail)


def is_allocatable(dtype: DType) -> bool:
    """Whether the bits of an element are whole bytes and a power of two, or the dtype is uint1
    (`VerifyDataType` in TVM's src/runtime/memory/memory_manager.cc).
    """
    bits = dtype.bits
    return _is_one_bit(dtype) or (bits % 8 == 0 and bits & (bits - 1) == 0)


def _is_one_bit(dtype: DType) -> bool:
    """`uint1`, with any number of lanes."""
    return dtype.name.partition("x")[0] == PACKED_DTYPE


def _unpacked_bytes(op: AllocTensor) -> Size:
    return op.shape if isinstance(op.shape, Unknown) else kernel_bytes(op.shape, op.dtype)


def _has_room(placement: Placement) -> tuple[Claim, ...]:
    size, offset, storages = _unpacked_bytes(placement.tensor), placement.tensor.offset, placement.storages
    if isinstance(size, Unknown):
        return (Claim(size, placement.region),)
    if isinstance(offset, Unknown):
        return (Claim(offset, placement.region),)
    if isinstance(storages, Unknown):
        return (Claim(storages, placement.region),)
    if placement.tensor.dtype.lanes > 1 and offset != 0:
        return (Claim(_LANES_MOVE, placement.region),)
    return tuple(_fits(placement, offset, size, storage) for storage in storages)


def _fits(placement: Placement, offset: sympy.Expr, size: sympy.Expr, storage: AllocStorage) -> Claim:
    if isinstance(storage.size, Unknown):
        return Claim(storage.size, placement.region)
    asked = partial(fitting, placement.tensor, size, storage, storage.size)
    return Claim(at_most(offset + size, storage.size), placement.region, asked)
