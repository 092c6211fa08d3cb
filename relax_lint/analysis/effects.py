"""What each call does to the contents of its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from relax_lint.analysis.certainty import Certainty, must_if
from relax_lint.model.kernels import Kernel
from relax_lint.model.program import CallKind, KernelCall, Program
from relax_lint.model.types import TensorType, TupleType, ValueType

_KERNEL_KINDS = frozenset(
    {CallKind.CALL_TIR, CallKind.CALL_TIR_INPLACE, CallKind.CALL_TIR_DYN, CallKind.PRIM_FUNC}
)
_FRESH_RESULT = frozenset({CallKind.CALL_TIR, CallKind.CALL_DPS_PACKED, CallKind.OPERATOR})


@dataclass(frozen=True)
class Effect:
    """The contents that a call may read and write, by position: those of the arguments, and from
    `len(call.arguments)` on the fields of a result that the call allocates.

    An argument is in `reads` when what it held before the call may matter, so that an output that the
    kernel initialises by itself is not. `first_reads` are read before the call has written anything to them.
    `elementwise` are the pairs (read, written) that may be the same memory,
    `copies` those of them of which one is written as the other is; of a pair in `read_before` everything is
    read before anything is written. Where the effect is not `known` it is the
    largest possible, and `why` says what was assumed.
    """

    reads: frozenset[int]
    writes: frozenset[int]
    elementwise: frozenset[tuple[int, int]] = frozenset()
    copies: frozenset[tuple[int, int]] = frozenset()
    read_before: frozenset[tuple[int, int]] = frozenset()
    first_reads: Mapping[int, Certainty] = field(default_factory=dict)
    known: bool = True
    why: str = ""


def _only(reads: tuple[int, ...] = (), writes: tuple[int, ...] = ()) -> Effect:
    return Effect(frozenset(reads), frozenset(writes))


_RUNTIME: Mapping[str, Effect] = {
    # From the definitions in TVM's src/runtime; the others of that name read or write what cannot be told
    # from the call, such as a KV cache.
    "vm.builtin.check_tensor_info": _only(),
    "vm.builtin.check_shape_info": _only(),
    "vm.builtin.check_prim_value_info": _only(),
    "vm.builtin.check_tuple_info": _only(),
    "vm.builtin.check_func_info": _only(),
    "vm.builtin.check_string_info": _only(),
    "vm.builtin.alloc_shape_heap": _only(),
    "vm.builtin.null_value": _only(),
    "vm.builtin.make_tuple": _only(),
    "vm.builtin.tuple_getitem": _only(),
    "vm.builtin.read_if_cond": _only(reads=(0,)),
    "vm.builtin.tensor_to_shape": _only(reads=(0,)),
    "vm.builtin.to_device": _only(reads=(0,)),
    "vm.builtin.attention_kv_cache_append": _only(reads=(0, 1), writes=(0,)),
    "vm.builtin.attention_kv_cache_attention_with_fused_qkv": _only(reads=(0, 3), writes=(0, 4)),
    "runtime.TVMTensorCreateView": _only(),
    "runtime.TVMTensorCopyFromTo": _only(reads=(0,), writes=(1,)),
    "runtime.TVMTensorCopyFromBytes": _only(writes=(0,)),
    "runtime.TVMTensorCopyToBytes": _only(reads=(0,)),
    "tvm.contrib.sort.argsort": _only(reads=(0,), writes=(1,)),
    "tvm.contrib.sort.sort": _only(reads=(0,), writes=(1,)),
}


def outputs_of(type_: ValueType) -> int:
    """How many tensors a call of this type returns."""
    if isinstance(type_, TupleType):
        return sum(outputs_of(field) for field in type_.fields)
    return int(isinstance(type_, TensorType))


def fresh_outputs(call: KernelCall) -> int:
    """How many of the tensors that a call returns it allocates itself."""
    if call.kind is CallKind.CALL_TIR_INPLACE:
        return sum(1 for index in call.inplace if index < 0)
    return outputs_of(call.type) if call.kind in _FRESH_RESULT else 0


class EffectTable:
    """The effects of the calls of one program; calls of one callee in one form are looked at once."""

    def __init__(self, program: Program) -> None:
        self._kernels = program.kernels
        self._known: dict[tuple[object, ...], Effect] = {}

    def effect_of(self, call: KernelCall) -> Effect:
        """What a call does to the contents of its arguments."""
        key = (call.kind, call.callee, len(call.arguments), fresh_outputs(call), call.inplace, call.pure)
        effect = self._known.get(key)
        if effect is None:
            effect = self._known[key] = self._read(call)
        return effect

    def kernel_of(self, call: KernelCall) -> Kernel | None:
        """The PrimFunc that a call runs, if it is one of the module."""
        return self._kernels.get(call.callee) if call.kind in _KERNEL_KINDS else None

    def _read(self, call: KernelCall) -> Effect:
        kernel = self.kernel_of(call)
        if kernel is not None:
            return _of_kernel(kernel)
        arguments = frozenset(range(len(call.arguments)))
        fresh = frozenset(range(len(call.arguments), len(call.arguments) + fresh_outputs(call)))
        if call.kind in (CallKind.OPERATOR, CallKind.CALL_DPS_PACKED):
            return Effect(arguments, fresh)
        if call.kind is CallKind.CALL_INPLACE_PACKED:
            return Effect(arguments, frozenset(index for index in call.inplace if index >= 0))
        if call.callee in _RUNTIME:
            return _RUNTIME[call.callee]
        if call.pure:
            return Effect(arguments, frozenset())
        why = f"`{call.callee}` may read and write its arguments, and keeps none of them"
        return Effect(arguments, arguments | fresh, known=False, why=why)


def _of_kernel(kernel: Kernel) -> Effect:
    unknown = [
        f"`{kernel.name}` may read and write `{kernel.parameters[p].name}`: {why}"
        for p, why in kernel.opaque.items()
    ]
    return Effect(
        kernel.reads,
        kernel.writes,
        kernel.elementwise,
        kernel.copies,
        kernel.read_before,
        {position: must_if(certain) for position, certain in kernel.first_reads.items()},
        known=not unknown,
        why="; ".join(unknown),
    )
