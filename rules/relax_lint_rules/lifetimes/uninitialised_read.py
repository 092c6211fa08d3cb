"""RLX205 uninitialised-read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import Symptom
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.analysis.events import UnwrittenRead
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.judge import Decided


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor that was allocated: it is written before it is read."""
    for decided in facts.uninitialised_reads():
        read = decided.event
        place = (read.reading.op or read.tensor).place
        yield Judgement.of(decided, place, _message(facts, decided))


def _message(facts: FunctionFacts, decided: Decided[UnwrittenRead]) -> Message:
    read, decision, only_empty = decided.event, decided.decision, decided.only_empty
    name, op, left = read.tensor.place.binding, read.reading.op, facts.leftovers(read)
    action = "is returned" if op is None else "is read"
    text = f"`{name}` {action} before anything is written to it"
    if read.mended:
        text = f"`{name}` {action} when it may be written in part only"
    if decision.verdict is Verdict.ALWAYS_FINE:
        text = f"`{name}` {action} when all of it is written"
    if left and not read.mended:
        text += f": it holds what `{facts.name_of(left[-1])}` left"
    elif only_empty:
        text += ": fails for every non-empty input"
    return Message(
        text,
        label=f"`{name}` {action}" if op is not None else f"nothing is written to `{name}`",
        related=() if op is None else ((f"`{name}` is allocated here", read.tensor.place),),
        help=(f"write `{name}` first, with zeros where it is an accumulator",),
    )


RULE = Rule(
    code="RLX205",
    name="uninitialised-read",
    family="lifetimes",
    summary="a tensor that is read or returned before anything is written to it",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=frozenset({Symptom.INDETERMINATE}),
)
