"""RLX403 unsupported-scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation: its device's allocator offers the scope."""
    for op in facts.devices.allocations:
        offered = facts.devices.offers(op.device, op.scope)
        if offered is None:
            continue
        message = f"the scope of `{op.place.binding}` is offered by its device"
        if not offered:
            message = (
                f"`{op.place.binding}` asks for the scope `{op.scope}`, which the allocator of "
                f"`{facts.devices.target_of(op.device)}` does not offer"
            )
        yield Judgement(
            op.place,
            facts.certain(Verdict.ALWAYS_FINE if offered else Verdict.ALWAYS_WRONG, f"scope {op.scope!r}"),
            message,
            label=f"scope `{op.scope}`",
            help=() if offered else ("use the scope `global`",),
        )


RULE = Rule(
    code="RLX403",
    name="unsupported-scope",
    family="placement",
    summary="a storage scope that the target's allocator does not offer",
    since="0.1.0",
    source=__file__,
    check=check,
)
