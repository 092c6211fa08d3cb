"""RLX206 inplace-hazard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import OTHER_RESULTS
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts

_FAILS = ": fails for every non-empty input"


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call that writes memory which it, or somebody after it, still reads as it was."""
    yield from _overlapping_arguments(facts)
    yield from _superseded_values(facts)
    yield from _outside_writes(facts)


def _overlapping_arguments(facts: FunctionFacts) -> Iterator[Judgement]:
    for event in facts.lifetimes.argument_overlaps:
        finding = facts.lifetimes.overlapping(event)
        written, other = facts.name_of(event.written), facts.name_of(event.other)
        same = written == other
        what = f"`{written}` twice" if same else f"`{written}` and `{other}` on one memory"
        message = f"`{event.call.callee}` gets {what} and writes it"
        if finding.decision.verdict is Verdict.ALWAYS_FINE:
            message += ", element by element" if event.harmless else ", on bytes apart"
        elif finding.only_empty:
            message += _FAILS
        yield Judgement(
            event.call.place,
            finding.decision,
            message,
            label="reads what it has already overwritten",
            severity=Severity.ERROR if finding.only_empty else None,
            help=(f"give the call an output of its own instead of `{written}`",),
        )


def _superseded_values(facts: FunctionFacts) -> Iterator[Judgement]:
    for event in facts.lifetimes.contents.stale_reads:
        finding = facts.lifetimes.stale(event)
        argument, value, read = (
            facts.name_of(event.argument),
            facts.name_of(event.reading.value),
            event.reading.op,
        )
        view = "" if argument == value else f" (as `{value}`)"
        later = facts.lifetimes.reader(event.reading)
        yield Judgement(
            event.call.place,
            finding.decision,
            f"`{event.call.callee}` overwrites `{argument}` in place, which {later}{view}"
            + (_FAILS if finding.only_empty else ""),
            label=f"overwrites `{argument}`",
            related=() if read is None else ((f"`{value}` is read here", read.place),),
            severity=Severity.ERROR if finding.only_empty else None,
            help=("use `R.call_tir` or `R.call_dps_packed`, which write to a new tensor",),
        )


def _outside_writes(facts: FunctionFacts) -> Iterator[Judgement]:
    for write in facts.lifetimes.outside_writes:
        name = facts.name_of(write.value)
        what = f"the constant `{name}`" if name else "a constant"
        if not write.constant:
            what = f"the parameter `{name}`"
        decision = facts.lifetimes.on_path(
            write.call, certain=write.constant, why="the caller may need it as it was"
        )
        yield Judgement(
            write.call.place,
            decision,
            f"`{write.call.callee}` overwrites {what}",
            label="changes the next call's answer" if write.constant else "the caller's tensor changes",
            severity=None if write.constant else Severity.NOTE,
            help=("use `R.call_tir` or `R.call_dps_packed`, which write to a new tensor",),
        )


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
