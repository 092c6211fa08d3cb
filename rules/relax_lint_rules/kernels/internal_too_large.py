"""RLX314 internal-too-large."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call of a kernel with a buffer that is larger than its target allows in this scope."""
    for decided in facts.inside.large():
        use, buffer = decided.event.use, decided.event.finding
        size = f"{buffer.bytes:,} bytes of {buffer.scope} memory"
        limit = f"{buffer.limit:,} that a block has on {buffer.target}"
        text = f"`{buffer.buffer}` in `{use.kernel.name}` takes {size}, more than the {limit}"
        message = Message(text, label=size)
        yield Judgement.of(decided, use.call.place, message)


RULE = Rule(
    code="RLX314",
    name="internal-too-large",
    family="kernels",
    summary="a buffer of a kernel that is larger than its target allows",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=NOTHING_TO_SEE,
)
