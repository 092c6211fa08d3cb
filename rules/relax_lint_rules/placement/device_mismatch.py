"""RLX402 device-mismatch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.device_places import Placing
    from relax_lint.facts.devices import MixedCall, NamedDevice
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.judge import Decided
    from relax_lint.facts.kernels import KernelUse


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor names the device of its storage; the tensors of a call of a kernel are on one device."""
    for named in facts.devices.same_as_storage():
        fine = named.decision.verdict is Verdict.ALWAYS_FINE
        # Device 0 is written where nobody thought of one; of two other names one is untrue.
        severity = Severity.WARNING if not fine and named.event.device else None
        message = _named(named.event, fine=fine)
        yield Judgement.of(named, named.event.tensor.place, message, severity=severity)
    for use in facts.kernels.uses:
        mixed = facts.devices.on_one_device(use)
        if mixed is not None:
            unsure = mixed.decision.verdict is Verdict.NEEDS_RUNTIME_CHECK
            message = _mixed(facts, use, mixed)
            severity = Severity.WARNING if unsure else None
            yield Judgement.of(mixed, use.call.place, message, severity=severity)


def _named(event: NamedDevice, *, fine: bool) -> Message:
    name, storage = event.tensor.place.binding, event.storage
    label = f"on device {event.device}"
    if fine:
        return Message(f"`{name}` is on the device of its storage", label=label)
    return Message(
        f"`{name}` is declared on device {event.device}, its storage "
        f"`{storage.place.binding}` is on device {storage.device}",
        label=label,
        related=((f"storage on device {storage.device}", storage.place),),
    )


def _mixed(facts: FunctionFacts, use: KernelUse, mixed: Decided[MixedCall]) -> Message:
    event, decision = mixed.event, mixed.decision
    kernel, first, other = use.kernel.name, event.first, event.other
    if decision.verdict is Verdict.ALWAYS_FINE:
        return Message(f"the arguments of `{kernel}` are on one device")
    if other is None:
        return Message(f"the arguments of `{kernel}` are on one device unless constants are folded")
    here, there = (f"{_called(facts, one, event)} on device {one.device}" for one in (first, other))
    return Message(
        f"`{kernel}` receives {here} and {there}",
        label="arguments on different devices",
    )


def _called(facts: FunctionFacts, placing: Placing, event: MixedCall) -> str:
    name = facts.name_of(placing.value)
    if not name:
        return "a constant"
    return f"output `{name}`" if placing.value == event.call.result else f"`{name}`"


RULE = Rule(
    code="RLX402",
    name="device-mismatch",
    family="placement",
    summary="a tensor on a different device from its storage, or a kernel that mixes devices",
    since="0.1.0",
    source=__file__,
    check=check,
)
