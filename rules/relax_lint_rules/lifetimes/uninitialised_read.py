"""RLX205 uninitialised-read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import Symptom
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.analysis.events import UnwrittenRead
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.heap_slots import SlotUse
    from relax_lint.facts.judge import Decided


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor that was allocated, and every slot of a shape heap: it is written before it is read."""
    for decided in facts.uninitialised_reads():
        read = decided.event
        place = (read.reading.op or read.tensor).place
        judgement = Judgement.of(decided, place, _message(facts, decided))
        if _is_no_more_than_a_note(facts, read):
            judgement = replace(judgement, severity=Severity.NOTE)
        yield judgement
    for slots in facts.heap_slots.written():
        yield Judgement.of(slots, slots.event.op.place, _slot_message(slots.event))


def _is_no_more_than_a_note(facts: FunctionFacts, read: UnwrittenRead) -> bool:
    """That a call writes all of it is not proved: what TVM's own kernels do often is not either. A stub would
    write it, and what a function returns that only allocates is meant to be written by its callers.
    """
    if facts.config.strict:
        return False
    unproved = (bool(read.mended) and not read.part) or read.reading.unsure
    return unproved or bool(facts.stubs_given(read)) or facts.is_for_callers(read)


def _slot_message(use: SlotUse) -> Message:
    # Every run reads the rules; only one that judges reads sympy.
    from relax_lint.facts.words import slot_name
    from relax_lint.model.heap_contents import Written

    unwritten = use.doubtful
    heap = f"the shape heap `{use.accesses[0].heap}`"
    if unwritten is None:
        return Message(f"every slot of {heap} is written before it is read", label="slots are read here")
    slot = slot_name(unwritten.slot)
    text = f"{slot} of {heap}"
    if unwritten.written is Written.NEVER:
        text = f"nothing writes {text} before it is read"
    else:
        text += " is written only on some paths before it is read"
    return Message(text, label=f"{slot} is read here", help=("match a value to the slot on every path",))


def _message(facts: FunctionFacts, decided: Decided[UnwrittenRead]) -> Message:
    read, decision = decided.event, decided.decision
    name, op, left = read.tensor.place.binding, read.reading.op, facts.leftovers(read)
    action = "is returned" if op is None else "is read"
    if decision.verdict is Verdict.ALWAYS_FINE:
        text = f"`{name}` {action} after all of it is written"
    elif read.reading.unsure:
        text = f"`{name}` may be read before it is written: nothing proves the order"
    elif read.part:
        text = f"`{name}` {action} although only a part of it is written{facts.wrong_unless(decided)}"
    elif read.mended:
        text = f"`{name}` {action} although only a part of it may be written"
    elif stubs := facts.stubs_given(read):
        text = f"nothing writes `{name}` before it {action}: `{stubs[0]}`, which receives it, is a stub"
    else:
        text = f"nothing writes `{name}` before it {action}"
        text += f": it holds what `{facts.name_of(left[-1])}` left" if left else facts.wrong_unless(decided)
    is_ = "is" if read.part else "may be"
    never = f"only a part of `{name}` {is_} written" if read.mended else f"`{name}` is never written"
    return Message(
        text,
        label=f"`{name}` {action} here" if op is not None else never,
        related=() if op is None else ((f"`{name}` is allocated here", read.tensor.place),),
        notes=_who_may_write(facts, read),
        help=(f"write `{name}` first, with zeros if it is an accumulator",),
    )


def _who_may_write(facts: FunctionFacts, read: UnwrittenRead) -> tuple[str, ...]:
    if not facts.is_for_callers(read):
        return ()
    return (
        f"`{facts.function.name}` only allocates: those who call it, which are not known, have to write it",
    )


RULE = Rule(
    code="RLX205",
    name="uninitialised-read",
    family="lifetimes",
    summary="a tensor that is read or returned before it is written",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=frozenset({Symptom.INDETERMINATE}),
)
