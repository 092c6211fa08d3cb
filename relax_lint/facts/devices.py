"""RLX401 to RLX403: is everything on a device that there is, and that offers what is asked of it?

Events and what must hold for them; as device indices are constants, each verdict follows from the text:

- RLX401, an allocation: its device index names a device of the VM;
- RLX402, a tensor: it names the device of its storage; a call of a kernel: its arguments lie on one device;
- RLX403, an allocation: the allocator of its device offers its scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.judge import Decided
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
from relax_lint.model.types import TensorType
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.settings.config import DEFAULT_TARGET, Config
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import Decision, Proof, certain
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.allocators import Allocator
from relax_lint.vm.scopes import FLAT_SCOPES, HOST_TARGETS, offered

_LEFT_OUT = Proof(Prover.UNDECIDED, "device 0 is also what stands where no device is named")


@record(frozen=True)
class Placing:
    """A value and its device index."""

    value: ValueId
    device: int


@record(frozen=True)
class NamedDevice:
    """A tensor that names a device, and its storage."""

    tensor: AllocTensor
    device: int
    storage: AllocStorage


@record(frozen=True)
class MixedCall:
    """A call and the first of its arguments whose device is known, with the first on another device."""

    call: KernelCall
    first: Placing
    other: Placing | None


class DeviceFacts:
    """Devices of one function, and the verdicts on the values on them."""

    def __init__(self, flow: FunctionFlow, config: Config) -> None:
        self._flow = flow
        self._program = flow.program
        self._function = flow.function
        self._config = config
        self._of_value: dict[ValueId, int | None] = {}
        self._index = {device.text: index for index, device in enumerate(self._program.declared_devices)}

    # -- verdicts ------------------------------------------------------------------------------

    def known(self) -> Iterator[Decided[AllocStorage | AllocTensor]]:
        """Every allocation that names a device: the VM has it."""
        for op in self._allocations:
            if op.device is not None:
                fine = 0 <= op.device < self.count
                # No VM has a device below 0.
                assumed = () if fine or op.device < 0 else self._assumed_devices
                yield Decided(op, _verdict(fine, f"device {op.device} of {self.count}"), assumed)

    def same_as_storage(self) -> Iterator[Decided[NamedDevice]]:
        """Every tensor that names a device: it is that of its storage."""
        for op in self._flow.function.body.of(AllocTensor):
            named = self._named_by(op)
            storage = self._storage_of(op)
            if named is not None and storage is not None and storage.device is not None:
                event = NamedDevice(op, named, storage)
                decision = _verdict(named == storage.device, "device indices")
                if decision.verdict is not Verdict.ALWAYS_FINE and named == 0:
                    decision = Decision(Verdict.NEEDS_RUNTIME_CHECK, _LEFT_OUT)
                yield Decided(event, decision)

    def on_one_device(self, call: KernelCall) -> Decided[MixedCall] | None:
        """The arguments of a call are on one device; None where fewer than two devices are known."""
        placings = self._placings(call)
        if len(placings) < 2:
            return None
        first = placings[0]
        other = next(
            (p for p in placings if p.device != first.device and not self._is_same(p.device, first.device)),
            None,
        )
        assumed: tuple[Presumption, ...] = ()
        if self._names_devices:
            counts = [p.value for p in placings] if other is None else [first.value, other.value]
            assumed = self._believed(counts)
        if other is None and self.count > 1:
            assumed += self._unplaced(call, {placing.value for placing in placings})
        return Decided(MixedCall(call, first, other), _verdict(other is None, "device indices"), assumed)

    def offered(self) -> Iterator[Decided[AllocStorage | AllocTensor]]:
        """Every allocation of which that can be told: its device offers the scope."""
        for op in self._allocations:
            offers = {self._offers(op.device, op.scope, Allocator(name)) for name in self._config.allocators}
            if None in offers:
                continue
            if len(offers) > 1:
                proof = Proof(Prover.UNDECIDED, "the naive allocator offers it, the pooled one refuses it")
                yield Decided(op, Decision(Verdict.NEEDS_RUNTIME_CHECK, proof))
                continue
            assumed = () if True in offers else self._assumed_target(op.device)
            yield Decided(op, _verdict(True in offers, f"scope {op.scope!r}"), assumed)

    # -- devices -------------------------------------------------------------------------------

    @cached_property
    def count(self) -> int:
        """How many devices the VM is started with: those that the module declares, else those of the
        configuration. The VM adds the host behind them unless the last one is the host.
        """
        declared = len(self._program.declared_devices) or self._config.devices or 1
        return declared if self._target_of(declared - 1) in HOST_TARGETS else declared + 1

    def target_of(self, device: int | None) -> str | None:
        """The kind of the target of a device index; None if there is no such device."""
        if device is None or not 0 <= device < self.count:
            return None
        return self._target_of(device)

    @cached_property
    def is_count_assumed(self) -> bool:
        """Whether neither the module nor the configuration says anything about the devices."""
        declared = self._program.declared_devices or self._config.devices is not None
        return not declared and self._config.target is None

    @cached_property
    def _assumed_devices(self) -> tuple[Presumption, ...]:
        if not self.is_count_assumed:
            return ()
        return (Presumption("the VM has 1 device (no device or target is named)", is_environment=True),)

    def _assumed_target(self, device: int | None) -> tuple[Presumption, ...]:
        if self._program.declared_devices or self._config.target is not None:
            return ()
        text = f"device {device or 0} is `{DEFAULT_TARGET}` (no target is named)"
        return (Presumption(text, is_environment=True),)

    def _target_of(self, device: int) -> str:
        declared = self._program.declared_devices
        if device < len(declared):
            return declared[device].target
        own = self._config.target_kind
        return "llvm" if declared or device >= (self._config.devices or 1) else own

    def _offers(self, device: int | None, scope: str, allocator: Allocator) -> bool | None:
        """Whether the allocator of a device offers a scope; None where that cannot be told."""
        if scope in FLAT_SCOPES:
            return True
        target = self.target_of(device)
        if target is None:
            return None
        return target not in HOST_TARGETS and offered(target, scope, allocator)

    def _named_by(self, op: AllocTensor) -> int | None:
        """The device that an alloc_tensor names; index 0 is what it says when it was left out, and counts
        only in modules that declare their devices.
        """
        return op.device if op.device or self._program.declared_devices else None

    def _storage_of(self, op: AllocTensor) -> AllocStorage | None:
        """The storage of a tensor; None where it is unknown, or one of several."""
        storages = None if op.storage is None else self._flow.storages_of(op.storage)
        if storages is None or isinstance(storages, Unknown) or len(storages) > 1:
            return None
        return storages[0]

    @cached_property
    def _allocations(self) -> tuple[AllocStorage | AllocTensor, ...]:
        """Everything that asks a device for memory: storages, and tensors that have none yet."""
        return tuple(
            op
            for op in self._flow.function.body.of(AllocStorage, AllocTensor)
            if isinstance(op, AllocStorage) or op.storage is None
        )

    def _is_same(self, one: int, other: int) -> bool:
        """Whether two indices name one device: a module declares it again for each memory scope."""
        declared = self._program.declared_devices
        if max(one, other) >= len(declared) or min(one, other) < 0:
            return one == other
        return declared[one].hardware == declared[other].hardware

    def _placings(self, call: KernelCall) -> list[Placing]:
        """The arguments of a call whose device is known."""
        known, found = self._of_value, []
        for argument in call.arguments:
            device = known[argument] if argument in known else self._device_of(argument)
            if device is not None:
                found.append(Placing(argument, device))
        return found

    def _device_of(self, value: ValueId) -> int | None:
        """The device index of a tensor; None where the IR does not determine it."""
        if value not in self._of_value:
            self._of_value[value] = self._device_at(self._origin(value))
        return self._of_value[value]

    def _device_at(self, value: ValueId) -> int | None:
        op = self._flow.paths.definitions.get(value)
        if isinstance(op, AllocTensor):
            storage = self._storage_of(op)
            return storage.device if storage is not None else op.device if op.storage is None else None
        type_ = self._function.type_of(value)
        return self._index.get(type_.device) if isinstance(type_, TensorType) and type_.device else None

    def _origin(self, value: ValueId) -> ValueId:
        """The value that decides where another one lies."""
        op = self._flow.paths.definitions.get(value)
        if isinstance(op, Alias | MatchCast | View):
            return self._origin(op.source)
        if isinstance(op, GetItem):
            made = self._flow.paths.definitions.get(op.tuple)
            if isinstance(made, MakeTuple) and op.item < len(made.items):
                return self._origin(made.items[op.item])
        return value

    def _believed(self, values: Iterable[ValueId]) -> tuple[Presumption, ...]:
        """What is assumed of those that come from outside: no check looks at the device of a type."""
        found = dict.fromkeys(map(self._origin, values))
        return tuple(
            Presumption(
                f"`{self._function.values[value].name}` is on device {self._index.get(type_.device)} "
                "(declared, not checked)"
            )
            for value in found
            if isinstance(type_ := self._function.type_of(value), TensorType)
            and type_.device
            and (value in self._function.parameters or value in self._function.claimed)
        )

    @cached_property
    def _names_devices(self) -> bool:
        """Whether the type of any value says where it is."""
        types = (value.type for value in self._function.values.values())
        return any(isinstance(type_, TensorType) and bool(type_.device) for type_ in types)

    def _unplaced(self, call: KernelCall, placed: set[ValueId]) -> tuple[Presumption, ...]:
        """What is assumed of the tensors whose device is unknown."""
        others = dict.fromkeys(argument for argument in call.arguments if argument not in placed)
        return tuple(
            Presumption(f"`{self._function.values[value].name}` is on the device of the others")
            for value in others
            if isinstance(self._function.type_of(value), TensorType)
        )


def _verdict(fine: bool, reason: str) -> Decision:
    return certain(Verdict.ALWAYS_FINE if fine else Verdict.ALWAYS_WRONG, reason)
