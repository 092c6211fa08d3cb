"""RLX205 uninitialised-read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import Symptom
from relax_lint.results.verdict import Severity
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor that was allocated: it is written before it is read."""
    for read in facts.lifetimes.unwritten_reads:
        finding, left = facts.lifetimes.unwritten(read), facts.lifetimes.leftovers(read)
        name, op = read.tensor.place.binding, read.reading.op
        action = "is returned" if op is None else "is read"
        message = f"`{name}` {action} before anything is written to it"
        if left:
            message += f": it holds what `{facts.name_of(left[-1])}` left"
        elif finding.only_empty:
            message += ": fails for every non-empty input"
        yield Judgement(
            (op or read.tensor).place,
            finding.decision,
            message,
            label=f"`{name}` {action}" if op is not None else f"nothing is written to `{name}`",
            related=() if op is None else ((f"`{name}` is allocated here", read.tensor.place),),
            severity=Severity.ERROR if finding.only_empty else None,
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
