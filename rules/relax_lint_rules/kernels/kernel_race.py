"""RLX312 kernel-race."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.model.kernel_inside.findings import Race
    from relax_lint.results.location import Location


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call of a kernel in which steps of a parallel loop store to the same element."""
    for decided in facts.inside.races():
        use, race = decided.event.use, decided.event.finding
        if decided.decision.verdict is Verdict.ALWAYS_FINE:
            message = Message(f"no two steps of `{race.loop}` in `{use.kernel.name}` write `{race.element}`")
        else:
            message = _message(use.kernel.name, race, facts.inside.place(decided.event, "the store"))
        yield Judgement.of(decided, use.call.place, message)


def _message(kernel: str, race: Race, related: tuple[tuple[str, Location], ...]) -> Message:
    loop = f"the parallel loop `{race.loop}`" if race.kind == "parallel" else f"`{race.loop}` ({race.kind})"
    if race.each:
        steps, does = f"every step of {loop}", "reads and writes" if race.reads else "writes"
    else:
        steps, does = (
            f"several steps of {loop}",
            "read and write the same" if race.reads else "write the same",
        )
    return Message(
        f"{steps} in `{kernel}` {does} `{race.element}`",
        label=f"a race on `{race.buffer}`",
        related=related,
        help=("make the loop serial, give each step an element of its own, or add with an atomic",),
    )


RULE = Rule(
    code="RLX312",
    name="kernel-race",
    family="kernels",
    summary="steps of a parallel loop that write the same element",
    since="0.1.0",
    source=__file__,
    check=check,
    severity={
        # Fine with a single step only.
        Verdict.NEEDS_RUNTIME_CHECK: Severity.ERROR,
    },
    symptoms=NOTHING_TO_SEE,
)
