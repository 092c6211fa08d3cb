"""RLX313 unused-internal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call of a kernel with a buffer of its own that is never read."""
    for decided in facts.inside.unused():
        use, buffer = decided.event.use, decided.event.finding
        what = "is written and never read" if buffer.written else "is never used"
        message = Message(
            f"`{buffer.buffer}` in `{use.kernel.name}` {what}", label=f"`{buffer.buffer}` {what}"
        )
        yield Judgement.of(decided, use.call.place, message)


RULE = Rule(
    code="RLX313",
    name="unused-internal",
    family="kernels",
    summary="a buffer of a kernel that is never read",
    since="0.1.0",
    source=__file__,
    check=check,
    # TVM's own kernels have such buffers.
    default=False,
    severity={
        # It costs memory and time, and changes no result.
        Verdict.ALWAYS_WRONG: Severity.NOTE,
    },
    symptoms=NOTHING_TO_SEE,
)
