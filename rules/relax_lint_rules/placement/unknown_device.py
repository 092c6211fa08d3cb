"""RLX401 unknown-device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation: its device index names a device of the VM."""
    devices = "1 device" if facts.devices.count == 1 else f"{facts.devices.count} devices"
    for decided in facts.devices.known():
        op = decided.event
        label = f"device {op.device}"
        has = "no device is declared" if facts.devices.is_count_assumed else f"the VM has {devices}"
        message = Message(
            f"`{op.place.binding}` is on device {op.device}, but {has}",
            label=label,
            help=("declare the devices of the module with `I.module_global_infos`, or set `devices`",),
        )
        if decided.decision.verdict is Verdict.ALWAYS_FINE:
            message = Message(f"`{op.place.binding}` is on a device of the VM", label=label)
        yield Judgement.of(decided, op.place, message)


RULE = Rule(
    code="RLX401",
    name="unknown-device",
    family="placement",
    summary="an allocation on a device that the VM does not have",
    since="0.1.0",
    source=__file__,
    check=check,
)
