"""RLX311 unwritten-internal-read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call of a kernel that reads a buffer of its own before it has stored anything there."""
    for decided in facts.inside.unwritten_reads():
        use, read = decided.event.use, decided.event.finding
        when = "which is never written" if read.ever else "before anything is written there"
        text = f"`{use.kernel.name}` reads `{read.element}` {when}"
        if read.partly:
            text = f"`{use.kernel.name}` reads `{read.element}` where nothing is written before"
        related = facts.inside.place(decided.event, "the read")
        if decided.decision.verdict is Verdict.ALWAYS_FINE:
            text = f"`{use.kernel.name}` does not read `{read.buffer}` before it is written"
        message = Message(text, label=f"reads `{read.buffer}` unwritten", related=related)
        is_seen = read.partly and decided.decision.safe_when is None
        is_open = is_seen and decided.decision.verdict is Verdict.NEEDS_RUNTIME_CHECK
        yield Judgement.of(decided, use.call.place, message, severity=Severity.WARNING if is_open else None)


RULE = Rule(
    code="RLX311",
    name="unwritten-internal-read",
    family="kernels",
    summary="a kernel that reads a buffer of its own before anything is written there",
    since="0.1.0",
    source=__file__,
    check=check,
    severity={
        # What is safe for empty inputs only is wrong for every useful one.
        Verdict.NEEDS_RUNTIME_CHECK: Severity.ERROR,
    },
    symptoms=NOTHING_TO_SEE,
)
