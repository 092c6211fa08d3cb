"""RLX403 unsupported-scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation: its device's allocator offers the scope."""
    for decided in facts.devices.offered():
        op = decided.event
        label = f"scope `{op.scope}`"
        message = Message(
            f"`{op.place.binding}` needs the scope `{op.scope}`, which the allocator of "
            f"`{facts.devices.target_of(op.device)}` does not offer",
            label=label,
            help=("use scope `global`",),
        )
        if decided.decision.verdict is Verdict.NEEDS_RUNTIME_CHECK:
            message = Message(
                f"`{op.place.binding}` needs the scope `{op.scope}`, which only the naive allocator of "
                f"`{facts.devices.target_of(op.device)}` offers",
                label=label,
                help=('run with `memory_cfg="naive"`, and configure `allocators = ["naive"]`',),
            )
        if decided.decision.verdict is Verdict.ALWAYS_FINE:
            message = Message(f"the scope of `{op.place.binding}` is offered by its device", label=label)
        yield Judgement.of(decided, op.place, message)


RULE = Rule(
    code="RLX403",
    name="unsupported-scope",
    family="placement",
    summary="a storage scope that the target's allocator does not offer",
    since="0.1.0",
    source=__file__,
    check=check,
)
