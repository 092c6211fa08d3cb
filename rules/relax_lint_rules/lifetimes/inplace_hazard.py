"""RLX206 inplace-hazard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import OTHER_RESULTS
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.analysis.events import StaleRead
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.inplace import ArgumentOverlap
    from relax_lint.facts.judge import Decided
    from relax_lint.facts.outside_writes import OutsideWrite

_NEW_TENSOR = "use `R.call_tir` or `R.call_dps_packed`, which write to a new tensor"


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call that writes memory which it or a later operation still reads."""
    for overlap in facts.argument_overlaps():
        yield Judgement.of(overlap, overlap.event.call.place, _overlapping(facts, overlap))
    for stale in facts.stale_reads():
        yield Judgement.of(stale, stale.event.call.place, _superseded(facts, stale))
    for outside in facts.outside_writes():
        severity = None if outside.event.constant else Severity.NOTE
        message = _outside(facts, outside.event)
        yield Judgement.of(outside, outside.event.call.place, message, severity=severity)
    for believed in facts.believed_calls():
        others = "other " if believed.event.inplace else ""
        text = f"`{believed.event.callee}` leaves its {others}arguments as they are"
        if believed.event.kind.runs_kernel:
            text = f"who is called in `{believed.event.callee}` leaves what is to be read as it is"
        yield Judgement.of(believed, believed.event.place, Message(text))


def _overlapping(facts: FunctionFacts, decided: Decided[ArgumentOverlap]) -> Message:
    # Rules are loaded where sympy is not.
    from relax_lint.model.operations import FunctionCall

    event = decided.event
    written, other = facts.name_of(event.written), facts.name_of(event.other)
    if decided.decision.verdict is Verdict.ALWAYS_FINE:
        what = "are used element by element" if event.harmless else "do not overlap"
        if event.ordered and isinstance(event.call, FunctionCall):
            what = "may overlap: it reads for the last time before it writes"
        return Message(f"the arguments `{written}` and `{other}` of `{event.call.callee}` {what}")
    text = f"`{event.call.callee}` writes `{written}` over its own argument `{other}`"
    if written == other:
        text = f"`{event.call.callee}` writes `{written}`, which it also receives as another argument"
    if decided.only_empty:
        text += facts.wrong_unless(decided)
    elif decided.decision.safe_when is not None:
        text += f": {facts.shared_bytes(decided)}"
    help = f"give the call an output of its own instead of `{written}`"
    return Message(text, label="reads what it has already overwritten", help=(help,))


def _superseded(facts: FunctionFacts, decided: Decided[StaleRead]) -> Message:
    event = decided.event
    argument, value = facts.name_of(event.argument), facts.name_of(event.reading.value)
    view = "" if argument == value else f" (as `{value}`)"
    later, read = facts.reader(event.reading), event.reading.op
    return Message(
        f"`{event.call.callee}` overwrites `{argument}` in place, which {later}{view}"
        + facts.wrong_unless(decided),
        label=f"overwrites `{argument}`",
        related=() if read is None else ((f"`{value}` is read here", read.place),),
        help=(_NEW_TENSOR,),
    )


def _outside(facts: FunctionFacts, write: OutsideWrite) -> Message:
    name = facts.name_of(write.value)
    what = f"the constant `{name}`" if name else "a constant"
    if not write.constant:
        what = f"the parameter `{name}`"
    label = "changes the result of the next call" if write.constant else "the caller's tensor changes"
    return Message(f"`{write.call.callee}` overwrites {what}", label=label, help=(_NEW_TENSOR,))


RULE = Rule(
    code="RLX206",
    name="inplace-hazard",
    family="lifetimes",
    summary="a call that overwrites what it still reads, a constant, or a value that is used later",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=OTHER_RESULTS,
)
