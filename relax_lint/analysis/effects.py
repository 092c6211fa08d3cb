"""What each call does to the contents of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.certainty import Certainty, must_if
from relax_lint.model.kernels import Kernel
from relax_lint.model.operations import KernelCall
from relax_lint.model.program import Program
from relax_lint.model.types import TensorType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm.builtins import BUILTINS, READ_PERHAPS_BY, UNREAD_BY
from relax_lint.vm.calls import CallKind


@record(frozen=True)
class Effect:
    """The contents that a call may read and write, by position: those of the arguments, and from
    `len(call.arguments)` on the fields of a result that the call allocates.

    An argument is in `reads` when what it held before the call may matter, so that an output that the
    kernel initialises by itself is not. `first_reads` are read before the call has written anything to them.
    `elementwise` are the pairs (read, written) that may be the same memory,
    `copies` those of them of which one is written as the other is; of a pair in `read_before` everything is
    read before anything is written. Those that are `unsure` may not be read at all, which is found out once
    somebody asks. In the kernel's symbols `whole` says when all of what is written is. Where the effect is
    not `known` it is the largest possible, and `why` says what was assumed; a kernel gives only those that
    are `opaque` away, and does with the others what is said of them. That it writes none of the `believed`
    ones only the call itself says, or the pointer by which a kernel gives them away.
    """

    reads: frozenset[int]
    writes: frozenset[int]
    elementwise: frozenset[tuple[int, int]] = frozenset()
    copies: frozenset[tuple[int, int]] = frozenset()
    read_before: frozenset[tuple[int, int]] = frozenset()
    first_reads: Mapping[int, Certainty] = field(default_factory=dict)
    unsure: Callable[[], frozenset[int]] = field(default=frozenset, compare=False, repr=False)
    whole: Mapping[int, Boolean] = field(default_factory=dict)
    known: bool = True
    why: str = ""
    opaque: frozenset[int] = frozenset()
    believed: frozenset[int] = frozenset()

    @cached_property
    def unsure_reads(self) -> frozenset[int]:
        """The arguments that may not be read at all."""
        return self.unsure()

    def may_be_own(self, position: int) -> bool:
        """Whether it is not known that what is read was not written by the call."""
        return position in self.writes and position not in self.first_reads

    def first_read(self, position: int) -> Certainty | None:
        """How certain it is that what is read was not written by the call; None where that is not known."""
        if self.may_be_own(position):
            return None
        first = self.first_reads[position] if position in self.writes else Certainty.MUST
        return first if first is Certainty.MAY else must_if(position not in self.unsure_reads)

    def with_unsure(self, unsure: Callable[[], frozenset[int]]) -> Effect:
        """The same effect of a call of which other arguments may not be read."""
        return Effect(
            self.reads,
            self.writes,
            self.elementwise,
            self.copies,
            self.read_before,
            self.first_reads,
            unsure,
            self.whole,
            self.known,
            self.why,
            self.opaque,
            self.believed,
        )


def outputs_of(type_: ValueType) -> int:
    """How many tensors a call of this type returns."""
    if isinstance(type_, TupleType):
        return sum(outputs_of(field) for field in type_.fields)
    return int(isinstance(type_, TensorType))


def fresh_outputs(call: KernelCall) -> int:
    """How many of the tensors that a call returns it allocates itself."""
    if call.kind is CallKind.CALL_TIR_INPLACE:
        return sum(1 for index in call.inplace if index < 0)
    return outputs_of(call.type) if call.kind.allocates_result else 0


def superseded(call: KernelCall, effect: Effect) -> Mapping[int, Certainty]:
    """The arguments that hold something else after a call, by position: those that it declares to overwrite,
    and those that a kernel writes although `R.call_tir` or `R.call_tir_inplace` declares other outputs, or
    `R.call_pure_packed` none.
    """
    found: dict[int, Certainty] = {}
    if (call.pure or call.kind in (CallKind.CALL_TIR, CallKind.CALL_TIR_INPLACE)) and effect.known:
        count = len(call.arguments)
        found = {position: Certainty.MAY for position in sorted(effect.writes) if position < count}
    for position in declared_in_place(call):
        found[position] = must_if(is_sure_to_write(call, effect, position))
    return found


def is_sure_to_write(call: KernelCall, effect: Effect, position: int) -> bool:
    """Whether a call writes something of an argument for sure that it declares to overwrite: of who is not
    known, or gives it to somebody who is not, nobody knows it.
    """
    seen = effect.known and call.kind is not CallKind.CALL_INPLACE_PACKED
    return seen or effect.whole.get(position) is sympy.true


def declared_in_place(call: KernelCall) -> tuple[int, ...]:
    """The arguments that an in-place call declares to overwrite, by position."""
    return tuple(position for position in call.inplace if position >= 0) if call.kind.in_place else ()


class EffectTable:
    """The effects of the calls of one program; calls of one callee in one form are looked at once."""

    def __init__(self, program: Program) -> None:
        self._kernels = program.kernels
        self._known: dict[tuple[object, ...], Effect] = {}
        self._of_call: dict[int, tuple[KernelCall, Effect]] = {}
        """By the identity of a call, which is kept so that it stays its own: to compare calls costs more."""

    def effect_of(self, call: KernelCall) -> Effect:
        """What a call does to the contents of its arguments."""
        known = self._of_call.get(id(call))
        if known is None:
            known = self._of_call[id(call)] = call, self._of_alike(call)
        return known[1]

    def _of_alike(self, call: KernelCall) -> Effect:
        key = (call.kind, call.callee, len(call.arguments), fresh_outputs(call), call.inplace, call.pure)
        effect = self._known.get(key)
        if effect is None:
            effect = self._known[key] = self._read(call)
        return effect

    def kernel_of(self, call: KernelCall) -> Kernel | None:
        """The PrimFunc that a call runs, if it is one of the module."""
        return self._kernels.get(call.callee) if call.kind.runs_kernel else None

    def is_seen(self, call: KernelCall) -> bool:
        """Whether it is known what a call runs; of others only what they declare is."""
        builtin = BUILTINS.get(call.callee)
        known = call.kind is CallKind.OPERATOR or (builtin is not None and builtin.is_call)
        return known or self.kernel_of(call) is not None

    def _read(self, call: KernelCall) -> Effect:
        kernel = self.kernel_of(call)
        if kernel is not None:
            return _of_kernel(kernel)
        arguments = frozenset(range(len(call.arguments)))
        fresh = frozenset(range(len(call.arguments), len(call.arguments) + fresh_outputs(call)))
        if call.kind in (CallKind.OPERATOR, CallKind.CALL_DPS_PACKED):
            read = arguments - UNREAD_BY.get(call.callee, frozenset())
            unsure = READ_PERHAPS_BY.get(call.callee, frozenset())
            believed = frozenset() if self.is_seen(call) else arguments
            return Effect(read, fresh, unsure=lambda: unsure, believed=believed)
        if call.kind is CallKind.CALL_INPLACE_PACKED:
            written = frozenset(index for index in call.inplace if index >= 0)
            return Effect(arguments, written, believed=arguments - written)
        builtin = BUILTINS.get(call.callee)
        if builtin is not None and builtin.is_call:
            whole = dict.fromkeys(builtin.writes - builtin.reads, sympy.true)
            return Effect(builtin.reads, builtin.writes, whole=whole)
        if call.pure:
            return Effect(arguments, frozenset(), believed=arguments)
        why = f"`{call.callee}` may read and write its arguments, but does not keep them"
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
        lambda: kernel.unsure_reads,
        whole=kernel.whole_writes,
        known=not unknown,
        why="; ".join(unknown),
        opaque=frozenset(kernel.opaque),
        believed=frozenset(p for p, only_read in kernel.lent.items() if only_read and p not in kernel.writes),
    )
