"""RLX401 unknown-device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation: its device index names a device of the VM."""
    for op in facts.devices.allocations:
        if op.device is None:
            continue
        devices = facts.devices.count
        known = 0 <= op.device < devices
        verdict = Verdict.ALWAYS_FINE if known else Verdict.ALWAYS_WRONG
        message = f"`{op.place.binding}` is on a device of the VM"
        if not known:
            count = "1 device" if devices == 1 else f"{devices} devices"
            message = f"`{op.place.binding}` is on device {op.device}, the VM has {count}"
        yield Judgement(
            op.place,
            facts.certain(verdict, f"device {op.device} of {devices}"),
            message,
            label=f"device {op.device}",
            help=() if known else ("declare the devices of the module with `I.module_global_infos`",),
        )


RULE = Rule(
    code="RLX401",
    name="unknown-device",
    family="placement",
    summary="an allocation on a device that the VM does not have",
    since="0.1.0",
    source=__file__,
    check=check,
)
