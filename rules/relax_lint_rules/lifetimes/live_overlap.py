"""RLX203 live-overlap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import OTHER_RESULTS
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.analysis.events import Apart, Overwriting
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every write into a storage: it does not overwrite tensors that are read later."""
    for decided in facts.live_overlaps():
        event, decision = decided.event, decided.decision
        message = _message(facts, event, facts.wrong_unless(decided))
        unconditional = not decision.assumptions and not decided.presumptions
        if decision.verdict is Verdict.ALWAYS_FINE and unconditional:
            tensor, written = event.tensor.place.binding, facts.name_of(event.written)
            message = Message(f"`{written}` does not overwrite `{tensor}`")
        yield Judgement.of(decided, event.write.place, message)
    for apart in facts.apart_writes():
        yield Judgement.of(
            apart, apart.event.write.place, _left_alone(facts, apart.event), count=apart.event.count
        )
    for reuse in facts.harmless_reuses():
        message = Message(f"`{reuse.event.place.binding}` overwrites no tensor that is read later")
        yield Judgement.of(reuse, reuse.event.place, message)


def _left_alone(facts: FunctionFacts, event: Apart) -> Message:
    written = facts.name_of(event.written)
    if event.count == 1:
        (other,) = event.others()
        return Message(f"`{written}` does not overwrite `{facts.name_of(other)}`")
    return Message(f"`{written}` overwrites none of {event.count} tensors on its storage that are used later")


def _message(facts: FunctionFacts, event: Overwriting, wrong_unless: str) -> Message:
    tensor, written = event.tensor.place.binding, facts.name_of(event.written)
    read = event.reading.op
    text = f"`{written}` is written over `{tensor}`, which {facts.reader(event.reading)}"
    text += wrong_unless
    related = [(f"`{tensor}` is allocated here", event.tensor.place)]
    if read is not None:
        related.append((f"`{tensor}` is read here", read.place))
    return Message(
        text,
        label=f"writes `{written}`",
        related=tuple(related),
        help=(f"put `{written}` on a storage of its own, or write it after the last use of `{tensor}`",),
    )


RULE = Rule(
    code="RLX203",
    name="live-overlap",
    family="lifetimes",
    summary="a tensor that overwrites another one on its storage that is read later",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=OTHER_RESULTS,
)
