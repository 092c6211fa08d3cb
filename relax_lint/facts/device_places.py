"""On which device of the VM a tensor is, and whether that is certain or only declared.

Certain is what the VM does itself: a tensor is on the device of its storage, the output of a call on the
device that its type declares and else on the first one, a constant on the first one, a copy where it was
copied to. What the type of a parameter or of the result of another function declares is compared by nobody.
"""

from __future__ import annotations

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.kernels import KernelUse
from relax_lint.model.kernels import BufferParameter
from relax_lint.model.operations import (
    Alias,
    AllocStorage,
    AllocTensor,
    GetItem,
    KernelCall,
    MakeTuple,
    MatchCast,
    ValueId,
    View,
)
from relax_lint.model.types import TensorType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm import versions
from relax_lint.vm.calls import CallKind

_MADE_BY_VM = (CallKind.CALL_TIR, CallKind.CALL_DPS_PACKED)
"""The calls of which the VM allocates the outputs."""
_TO_DEVICE = "relax.to_vdevice"


@record(frozen=True)
class Placing:
    """A value and its device index."""

    value: ValueId
    device: int
    is_certain: bool


class DevicePlaces:
    """The devices of the values of one function."""

    def __init__(self, flow: FunctionFlow) -> None:
        self._flow = flow
        self._function = flow.function
        declared = flow.program.declared_devices
        self.index = {device.text: index for index, device in enumerate(declared)}
        """The index of a device as the types of tensors write it."""
        self._has_several = len({device.hardware for device in declared}) > 1
        self._known: dict[ValueId, Placing | None] = {}
        self._folded: dict[ValueId, bool] = {}

    def of_call(self, use: KernelUse) -> list[Placing]:
        """The tensors whose device a kernel compares, as far as it is known: arguments, and outputs that are
        allocated.
        """
        found = []
        for operand, parameter in zip(use.operands, use.kernel.parameters, strict=False):
            if isinstance(parameter, BufferParameter):
                placing = (
                    self._output(use.call.result, operand.type)
                    if operand.value is None
                    else self.of(operand.value)
                )
                found += [] if placing is None else [placing]
        return found

    def of(self, value: ValueId) -> Placing | None:
        """Where a tensor is; None where the IR does not say."""
        if value not in self._known:
            found = self._at(self.origin(value))
            self._known[value] = None if found is None else Placing(value, found.device, found.is_certain)
        return self._known[value]

    def origin(self, value: ValueId) -> ValueId:
        """The value that decides where another one lies."""
        op = self._flow.paths.definitions.get(value)
        if isinstance(op, Alias | MatchCast | View):
            return self.origin(op.source)
        if isinstance(op, GetItem):
            made = self._flow.paths.definitions.get(op.tuple)
            if isinstance(made, MakeTuple) and op.item < len(made.items):
                return self.origin(made.items[op.item])
        return value

    def storage_of(self, op: AllocTensor) -> AllocStorage | None:
        """The storage of a tensor; None where it is unknown, or one of several."""
        storages = None if op.storage is None else self._flow.storages_of(op.storage)
        if storages is None or isinstance(storages, Unknown) or len(storages) > 1:
            return None
        return storages[0]

    def is_folded(self, call: KernelCall) -> bool:
        """Whether constants are all that a call gives its kernel: FoldConstant may carry it out."""
        by_name = bool(versions.packed_call_name(call.place.node))
        return call.kind is CallKind.CALL_TIR and not by_name and all(map(self._is_constant, call.arguments))

    def may_be_moved(self, value: ValueId) -> bool:
        """Whether a tensor on another device than the first one may be a constant when it runs, and there."""
        placing = self.of(value) if value in self._function.values else None
        return placing is not None and placing.device != 0 and self._is_constant(value)

    def _is_constant(self, value: ValueId) -> bool:
        value = self.origin(value)
        if value not in self._folded:
            made = self._made_by(value)
            constant = value in self._function.constants
            self._folded[value] = constant or (made is not None and self.is_folded(made))
        return self._folded[value]

    def _made_by(self, value: ValueId) -> KernelCall | None:
        """The call that gives a tensor, alone or in a tuple."""
        op = self._flow.paths.definitions.get(value)
        if isinstance(op, GetItem):
            op = self._flow.paths.definitions.get(op.tuple)
        return op if isinstance(op, KernelCall) else None

    def _at(self, value: ValueId) -> Placing | None:
        op, type_ = self._flow.paths.definitions.get(value), self._function.type_of(value)
        if isinstance(op, AllocTensor):
            storage = self.storage_of(op)
            device = storage.device if storage is not None else op.device if op.storage is None else None
            return None if device is None else Placing(value, device, is_certain=True)
        call = self._made_by(value)
        if call is not None and call.kind in _MADE_BY_VM:
            made = self._output(value, type_)
            # Folded, it is a constant, and on the first device.
            unsure = made is not None and made.device != 0 and self.is_folded(call)
            return Placing(value, made.device, is_certain=False) if made is not None and unsure else made
        if value in self._function.constants and isinstance(type_, TensorType):
            return Placing(value, 0, is_certain=True) if self._has_several else None
        copied = call is not None and call.callee == _TO_DEVICE
        return self._declared(value, type_, is_certain=copied)

    def _output(self, value: ValueId, type_: ValueType) -> Placing | None:
        """Where what the VM allocates for a call is. Where there is one device only, nobody asks."""
        if isinstance(type_, TensorType) and type_.device is None and self._has_several:
            return Placing(value, 0, is_certain=True)
        return self._declared(value, type_, is_certain=True)

    def _declared(self, value: ValueId, type_: ValueType, *, is_certain: bool) -> Placing | None:
        device = self.index.get(type_.device) if isinstance(type_, TensorType) and type_.device else None
        return None if device is None else Placing(value, device, is_certain)
