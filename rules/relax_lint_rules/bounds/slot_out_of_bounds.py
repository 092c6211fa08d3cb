"""RLX106 slot-out-of-bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.heap_slots import SlotUse


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every operation that reads or writes slots of a shape heap: the heap has these slots."""
    for decided in facts.heap_slots.inside():
        fine = decided.decision.verdict is Verdict.ALWAYS_FINE
        wrong = decided.decision.verdict is Verdict.ALWAYS_WRONG
        message = _message(decided.event, fine=fine, certain=wrong)
        yield Judgement.of(decided, decided.event.op.place, message)


def _message(use: SlotUse, *, fine: bool, certain: bool) -> Message:
    # Every run reads the rules; only one that judges reads sympy.
    from relax_lint.facts.words import quantity, slot_name

    access = use.doubtful or use.accesses[0]
    slots = quantity(access.slots, "slots")
    heap = f"the shape heap `{access.heap}`" if access.heap else "the shape heap"
    if fine:
        return Message(f"every slot is one of {heap}", label=f"{heap} has {slots}")
    action = "writes" if access.writes else "reads"
    if not certain:
        action = f"may {action[:-1]}"
    number = slot_name(access.slot)
    return Message(
        f"this {action} {number} of {heap}, which has {slots}",
        label=f"{number} of {slots}",
        help=("use a slot from 0 to one less than the number of slots, or allocate a larger heap",),
    )


RULE = Rule(
    code="RLX106",
    name="slot-out-of-bounds",
    family="bounds",
    summary="a slot of a shape heap that the heap does not have",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=FAILURE,
)
