"""RLX104 and RLX404 for what `R.call_tir` and its relatives allocate, before memory is planned."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain, repeat

import sympy

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.asking import signs
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.packing import as_planned, by_dtype, is_allocatable
from relax_lint.model.operations import KernelCall
from relax_lint.model.types import TensorType, TupleType, extents_of
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.relations import none_negative
from relax_lint.vm.calls import CallKind

_ALLOCATE = (CallKind.CALL_TIR, CallKind.CALL_DPS_PACKED, CallKind.CALL_TIR_INPLACE)


@record(frozen=True)
class CallResult:
    """A tensor that a call allocates for what it computes."""

    call: KernelCall
    type: TensorType


class CallResults:
    """The tensors that the calls of one function allocate themselves."""

    def __init__(self, flow: FunctionFlow, judge: Judge) -> None:
        self._flow = flow
        self._judge = judge

    def extents(self) -> Iterator[Decided[CallResult]]:
        """Those with an extent that is neither constant nor that of another tensor: none is negative."""
        free = self._judge.entry.free
        for result in self._all():
            shape = extents_of(result.type)
            if all(_is_plain(extent, free) for extent in shape):
                continue
            asked = partial(signs, "extents", result.call, shape)
            claim = self._judge.claim_at(none_negative(shape), result.call, asked)
            yield Decided(result, self._judge.judge(claim))

    def dtypes(self) -> Iterator[Decided[CallResult]]:
        """Those of a dtype that the VM does not allocate, or with less room than kernels take."""
        for result in self._all():
            shape, dtype = result.type.shape, result.type.dtype
            if dtype is None:
                continue
            roomy = None if shape is None else as_planned(shape, dtype, result.call, self._judge)
            if roomy is not None:
                yield Decided(result, roomy)
            elif not is_allocatable(dtype):
                yield Decided(result, by_dtype(dtype))

    def _all(self) -> Iterator[CallResult]:
        for call in self._flow.calls:
            if call.kind not in _ALLOCATE:
                continue
            fields = call.type.fields if isinstance(call.type, TupleType) else (call.type,)
            # Only calls in place say which of their results are arguments.
            for type_, argument in zip(fields, chain(call.inplace, repeat(-1)), strict=False):
                if isinstance(type_, TensorType) and argument < 0:
                    yield CallResult(call, type_)


def _is_plain(extent: sympy.Expr, free: frozenset[sympy.Symbol]) -> bool:
    """Whether nobody would ask if an extent is negative."""
    if isinstance(extent, sympy.Symbol):
        return extent not in free
    return bool(extent.is_Integer and extent >= 0)
