"""RLX402 device-mismatch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor names the device of its storage; the tensors of a kernel lie on one device."""
    for op in facts.tensors:
        storage, named = facts.devices.storage_of(op), facts.devices.named_by(op)
        if storage is None or storage.device is None or named is None:
            continue
        same = named == storage.device
        message = f"`{op.place.binding}` is on the device of its storage"
        if not same:
            message = (
                f"`{op.place.binding}` is declared on device {named}, its storage "
                f"`{storage.place.binding}` is on device {storage.device}"
            )
        yield Judgement(
            op.place,
            facts.certain(Verdict.ALWAYS_FINE if same else Verdict.ALWAYS_WRONG, "device indices"),
            message,
            label=f"on device {named}",
            related=() if same else ((f"storage on device {storage.device}", storage.place),),
        )
    for use in facts.kernels.uses:
        placings = facts.devices.placings(use.call)
        if len(placings) < 2:
            continue
        first = placings[0]
        other = next((placing for placing in placings if placing.device != first.device), None)
        message = f"the arguments of `{use.kernel.name}` are on one device"
        if other is not None:
            message = (
                f"`{use.kernel.name}` gets `{facts.name_of(first.value)}` on device {first.device} and "
                f"`{facts.name_of(other.value)}` on device {other.device}"
            )
        yield Judgement(
            use.call.place,
            facts.certain(Verdict.ALWAYS_FINE if other is None else Verdict.ALWAYS_WRONG, "device indices"),
            message,
            label="" if other is None else "arguments on different devices",
        )


RULE = Rule(
    code="RLX402",
    name="device-mismatch",
    family="placement",
    summary="a tensor on another device than its storage, or a kernel that mixes devices",
    since="0.1.0",
    source=__file__,
    check=check,
)
