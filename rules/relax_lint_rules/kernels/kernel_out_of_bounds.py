"""RLX306 kernel-out-of-bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import CheckAtRunTime
from relax_lint.results.verdict import Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.kernels import KernelUse


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call of a kernel whose indices are not trivially inside its buffers."""
    for decided in facts.indices.accesses():
        use, verdict = decided.event, decided.decision.verdict
        message = Message(f"`{use.kernel.name}` stays inside its arguments")
        if verdict is not Verdict.ALWAYS_FINE:
            message = _message(facts, use, certain=verdict is Verdict.ALWAYS_WRONG)
        yield Judgement.of(decided, use.call.place, message, remedy=CheckAtRunTime())


def _message(facts: FunctionFacts, use: KernelUse, *, certain: bool) -> Message:
    access = facts.indices.first_outside(use)
    name = facts.kernels.name_of(use, access.parameter)
    verb = ("writes" if certain else "may write") if access.writes else ("reads" if certain else "may read")
    return Message(
        f"`{use.kernel.name}` {verb} outside {name} along axis {access.axis}",
        label=f"reaches index {use.match.last_index(access)} of axis {access.axis} of {name}",
    )


RULE = Rule(
    code="RLX306",
    name="kernel-out-of-bounds",
    family="kernels",
    summary="a kernel that accesses an argument out of bounds",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
)
