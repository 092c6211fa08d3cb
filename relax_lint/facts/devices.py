"""Which device a value lies on, and what that device offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from relax_lint.analysis.storages import Storages
from relax_lint.model.program import (
    Alias,
    AllocStorage,
    AllocTensor,
    Function,
    GetItem,
    KernelCall,
    MakeTuple,
    MatchCast,
    Op,
    Program,
    Unknown,
    ValueId,
    View,
)
from relax_lint.model.types import TensorType
from relax_lint.settings.config import Config

HOST_TARGETS = frozenset({"llvm", "c", "cpu"})
"""Kinds of targets whose memory is the host's."""

FLAT_SCOPES = frozenset({"", "global"})
"""The scopes that an allocator offers which knows nothing of scopes (TVM's `AllowMemoryScope`)."""


@dataclass(frozen=True)
class Placing:
    """A value and the device index that it lies on."""

    value: ValueId
    device: int


class DeviceFacts:
    """Devices of one function."""

    def __init__(
        self, program: Program, function: Function, config: Config, storages_of: Callable[[ValueId], Storages]
    ) -> None:
        self._program = program
        self._function = function
        self._config = config
        self._storages_of = storages_of
        self._index = {device.text: index for index, device in enumerate(program.declared_devices)}

    @cached_property
    def count(self) -> int:
        """How many devices the VM is started with: those that the module declares, else those of the
        configuration. The VM adds the host behind them unless the last one is the host.
        """
        declared = len(self._program.declared_devices) or self._config.devices or 1
        return declared if self._target_of(declared - 1) in HOST_TARGETS else declared + 1

    def target_of(self, device: int | None) -> str | None:
        """The kind of the target of a device index; None where there is no such device."""
        if device is None or not 0 <= device < self.count:
            return None
        return self._target_of(device)

    def _target_of(self, device: int) -> str:
        declared = self._program.declared_devices
        if device < len(declared):
            return declared[device].target
        own = self._config.target.split()[0]
        return "llvm" if declared or device >= (self._config.devices or 1) else own

    def offers(self, device: int | None, scope: str) -> bool | None:
        """Whether the allocator of a device offers a scope; None where that cannot be told."""
        if scope in FLAT_SCOPES:
            return True
        return False if self.target_of(device) in HOST_TARGETS else None

    def named_by(self, op: AllocTensor) -> int | None:
        """The device that an alloc_tensor names; index 0 is what it says when it was left out, and counts
        only in modules that declare their devices.
        """
        return op.device if op.device or self._program.declared_devices else None

    def storage_of(self, op: AllocTensor) -> AllocStorage | None:
        """The storage that a tensor lies on; None where it is not known, or one of several."""
        storages = None if op.storage is None else self._storages_of(op.storage)
        if storages is None or isinstance(storages, Unknown) or len(storages) > 1:
            return None
        return storages[0]

    @cached_property
    def allocations(self) -> tuple[AllocStorage | AllocTensor, ...]:
        """Everything that asks a device for memory: storages, and tensors that have none yet."""
        return tuple(
            op
            for op in self._function.body.walk()
            if isinstance(op, AllocStorage) or (isinstance(op, AllocTensor) and op.storage is None)
        )

    def placings(self, call: KernelCall) -> tuple[Placing, ...]:
        """The arguments of a call whose device is known."""
        found = ((argument, self.device_of(argument)) for argument in call.arguments)
        return tuple(Placing(argument, device) for argument, device in found if device is not None)

    def device_of(self, value: ValueId) -> int | None:
        """The device index that a tensor lies on; None where the IR does not tell."""
        op = self._defined_by.get(value)
        if isinstance(op, AllocTensor):
            storage = self.storage_of(op)
            return storage.device if storage is not None else op.device if op.storage is None else None
        if isinstance(op, Alias | MatchCast | View):
            return self.device_of(op.source)
        if isinstance(op, GetItem):
            made = self._defined_by.get(op.tuple)
            if isinstance(made, MakeTuple) and op.item < len(made.items):
                return self.device_of(made.items[op.item])
        type_ = self._function.type_of(value)
        return self._index.get(type_.device) if isinstance(type_, TensorType) and type_.device else None

    @cached_property
    def _defined_by(self) -> Mapping[ValueId, Op]:
        return {op.result: op for op in self._function.body.walk()}
