"""RLX303 kernel-offset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import CheckAtRunTime
from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.judge import Decided
    from relax_lint.facts.kernel_arguments import Start
    from relax_lint.facts.read_at_start import ReadAtStart


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor that reaches a kernel at a byte offset: the kernel accepts that offset. Every one that
    goes to what looks at the data pointer: it starts there.
    """
    for decided in facts.arguments.starts():
        start = decided.event
        message = _message(facts, start, fine=decided.decision.verdict is Verdict.ALWAYS_FINE)
        # Where a kernel accepts no offset, a check would refuse every useful input.
        remedy = CheckAtRunTime(safe=False)
        yield Judgement.of(decided, start.use.call.place, message, remedy=remedy)
    for read in facts.reads_at_start():
        yield Judgement.of(read, read.event.op.place, _at_start(facts, read))


def _at_start(facts: FunctionFacts, read: Decided[ReadAtStart]) -> Message:
    name, offset = f"`{facts.name_of(read.event.value)}`", facts.bytes(read.event.offset)
    if read.decision.verdict is Verdict.ALWAYS_FINE:
        return Message(f"{name} starts where {read.event.by} looks for it")
    text = f"{name} starts at offset {offset}, {read.event.by} looks at the start of its memory"
    if read.event.refuses:
        text = f"{name} starts at offset {offset}, the kernel of {read.event.by} accepts no offset"
    help = ("copy it to offset 0 with `R.memory.ensure_zero_offset`",)
    return Message(text, label=f"{name} at offset {offset}", help=help)


def _message(facts: FunctionFacts, start: Start, *, fine: bool) -> Message:
    kernel = start.use.kernel.name
    name, offset = facts.kernels.name_of(start.use, start.position), facts.bytes(start.offset)
    text = (
        f"{name} starts at offset {offset}, which is not always a multiple of the "
        f"{start.unit} bytes that `{kernel}` needs"
    )
    if fine:
        text = f"`{kernel}` accepts the offset of {name}"
    elif start.unit is None and start.wanted == 0:
        text = f"{name} starts at offset {offset}, `{kernel}` accepts no offset"
    elif start.unit is None:
        text = f"{name} starts at offset {offset}, `{kernel}` expects {facts.bytes(start.wanted)}"
    copied = start.unit is None and start.wanted == 0
    help = ("copy it to offset 0 with `R.memory.ensure_zero_offset`",) if copied else ()
    return Message(text, label=f"{name} at offset {offset}", help=help)


RULE = Rule(
    code="RLX303",
    name="kernel-offset",
    family="kernels",
    summary="a tensor at a byte offset that the kernel does not accept",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
    symptoms=FAILURE,
)
