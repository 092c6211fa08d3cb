"""RLX401 to RLX403: is everything on a device that there is, and that offers what is asked of it?

Events and what must hold for them; as device indices are constants, each verdict follows from the text:

- RLX401, an allocation: its device index names a device of the VM;
- RLX402, a tensor: it names the device of its storage; a call of a kernel: its tensors lie on one device;
- RLX403, an allocation: the allocator of its device offers its scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.device_places import DevicePlaces, Placing
from relax_lint.facts.judge import Decided
from relax_lint.facts.kernels import KernelUse
from relax_lint.model.operations import AllocStorage, AllocTensor, KernelCall, ValueId
from relax_lint.model.types import TensorType
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.settings.config import DEFAULT_TARGET, Config
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import Decision, Proof, certain
from relax_lint.vm.allocators import Allocator
from relax_lint.vm.scopes import FLAT_SCOPES, HOST_TARGETS, offered

_LEFT_OUT = Proof(Prover.UNDECIDED, "device 0 is also what stands where no device is named")
_IGNORED = Proof(
    Prover.UNDECIDED, "the VM ignores the name: what uses the tensor decides whether that is wrong"
)
_FOLDED = Proof(Prover.UNDECIDED, "what is computed of constants only may be a constant when it runs")


@record(frozen=True)
class NamedDevice:
    """A tensor that names a device, and its storage."""

    tensor: AllocTensor
    device: int
    storage: AllocStorage


@record(frozen=True)
class MixedCall:
    """A call and the first of its tensors whose device is known, with the first on another device: of those
    whose device is certain, if there are two such.
    """

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
        self._places = DevicePlaces(flow)

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
            storage = self._places.storage_of(op)
            if named is not None and storage is not None and storage.device is not None:
                event = NamedDevice(op, named, storage)
                decision = _verdict(named == storage.device, "device indices")
                if decision.verdict is not Verdict.ALWAYS_FINE:
                    proof = _IGNORED if named else _LEFT_OUT
                    decision = Decision(Verdict.NEEDS_RUNTIME_CHECK, proof)
                yield Decided(event, decision)

    def on_one_device(self, use: KernelUse) -> Decided[MixedCall] | None:
        """The tensors of a call, which the kernel compares, are on one device; None where fewer than two
        devices are known.
        """
        placings = self._places.of_call(use)
        if len(placings) < 2:
            return None
        first, other = self._two_devices([placing for placing in placings if placing.is_certain])
        if other is None:
            first, other = self._two_devices(placings)
        event = MixedCall(use.call, first or placings[0], other)
        assumed: tuple[Presumption, ...] = ()
        if self._names_devices:
            counts = placings if other is None or first is None else [first, other]
            assumed = self._believed(placing.value for placing in counts)
        if first is None or other is None:
            if self.count > 1:
                assumed += self._unplaced(use.call, {placing.value for placing in placings})
            assumed += self._one_of_two_names(placings)
            moved = any(self._places.may_be_moved(placing.value) for placing in placings)
            if moved and not self._places.is_folded(use.call):
                return Decided(event, Decision(Verdict.NEEDS_RUNTIME_CHECK, _FOLDED), assumed)
            return Decided(event, _verdict(True, "device indices"), assumed)
        if self._places.is_folded(use.call):
            return Decided(event, Decision(Verdict.NEEDS_RUNTIME_CHECK, _FOLDED), assumed)
        if not first.is_certain or not other.is_certain:
            unsure = other if first.is_certain else first
            reason = f"that `{self._name_of(unsure.value)}` is on device {unsure.device} is declared only"
            proof = Proof(Prover.UNDECIDED, reason)
            return Decided(event, Decision(Verdict.NEEDS_RUNTIME_CHECK, proof), assumed)
        assumed += self._are_two(first.device, other.device)
        return Decided(event, _verdict(False, "device indices"), assumed)

    def _two_devices(self, placings: list[Placing]) -> tuple[Placing | None, Placing | None]:
        """The first of some values, and the first that is on another device; None for both where there is
        none.
        """
        for other in placings[1:]:
            if not self._is_same(other.device, placings[0].device):
                return placings[0], other
        return None, None

    def _are_two(self, one: int, other: int) -> tuple[Presumption, ...]:
        """What is assumed of a machine where something fails on two devices: that it is not started with one
        device twice.
        """
        text = f"devices {min(one, other)} and {max(one, other)} of the VM are different ones"
        return (Presumption(text, is_environment=self.is_count_assumed),)

    def _one_of_two_names(self, placings: list[Placing]) -> tuple[Presumption, ...]:
        """What is assumed where two indices name one device: that the machine is started so."""
        found = sorted({placing.device for placing in placings})
        text = f"devices {found[0]} and {found[-1]} of the VM are one, as declared"
        return (Presumption(text),) if len(found) > 1 else ()

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
        """How many devices the VM is started with: those that the module declares, more if the configuration
        says so. The VM adds the host behind them unless the last one is the host.
        """
        named = max(len(self._program.declared_devices), self._config.devices or 1)
        return named if self._target_of(named - 1) in HOST_TARGETS else named + 1

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
        if self.is_count_assumed:
            return (Presumption("the VM has 1 device (no device or target is named)", is_environment=True),)
        if self._config.devices is None and self._program.declared_devices:
            return (Presumption("the VM is started with the devices that the module declares"),)
        return ()

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
        named = self._config.devices or (0 if declared else 1)
        return own if device < named else "llvm"

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
        if one == other or max(one, other) >= len(declared) or min(one, other) < 0:
            return one == other
        return declared[one].hardware == declared[other].hardware

    def _believed(self, values: Iterable[ValueId]) -> tuple[Presumption, ...]:
        """What is assumed of those that come from outside: no check looks at the device of a type."""
        found = dict.fromkeys(map(self._places.origin, values))
        return tuple(
            Presumption(
                f"`{self._name_of(value)}` is on device {self._places.index.get(type_.device)} "
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
            Presumption(f"`{self._name_of(value)}` is on the device of the others")
            for value in others
            if isinstance(self._function.type_of(value), TensorType)
        )

    def _name_of(self, value: ValueId) -> str:
        return self._function.values[value].name


def _verdict(fine: bool, reason: str) -> Decision:
    return certain(Verdict.ALWAYS_FINE if fine else Verdict.ALWAYS_WRONG, reason)
