"""RLX402 device-mismatch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.devices import MixedCall, NamedDevice
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor names the device of its storage; the arguments of a kernel are on one device."""
    for named in facts.devices.same_as_storage():
        fine = named.decision.verdict is Verdict.ALWAYS_FINE
        yield Judgement.of(named, named.event.tensor.place, _named(named.event, fine=fine))
    for use in facts.kernels.uses:
        mixed = facts.devices.on_one_device(use.call)
        if mixed is not None:
            yield Judgement.of(mixed, use.call.place, _mixed(facts, use.kernel.name, mixed.event))


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


def _mixed(facts: FunctionFacts, kernel: str, event: MixedCall) -> Message:
    first, other = event.first, event.other
    if other is None:
        return Message(f"the arguments of `{kernel}` are on one device")
    return Message(
        f"`{kernel}` receives `{facts.name_of(first.value)}` on device {first.device} and "
        f"`{facts.name_of(other.value)}` on device {other.device}",
        label="arguments on different devices",
    )


RULE = Rule(
    code="RLX402",
    name="device-mismatch",
    family="placement",
    summary="a tensor on a different device from its storage, or a kernel that mixes devices",
    since="0.1.0",
    source=__file__,
    check=check,
)
