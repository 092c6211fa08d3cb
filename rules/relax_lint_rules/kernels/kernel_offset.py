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
    from relax_lint.facts.kernel_arguments import Start


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor that reaches a kernel at a byte offset: the kernel was built for such tensors."""
    for decided in facts.arguments.starts():
        start = decided.event
        message = _message(facts, start, fine=decided.decision.verdict is Verdict.ALWAYS_FINE)
        # Where no offset is taken, a check would refuse every useful input.
        remedy = CheckAtRunTime(safe=False)
        yield Judgement.of(decided, start.use.call.place, message, remedy=remedy)


def _message(facts: FunctionFacts, start: Start, *, fine: bool) -> Message:
    kernel = start.use.kernel.name
    name, offset = facts.kernels.name_of(start.use, start.position), facts.bytes(start.offset)
    text = (
        f"{name} starts at an offset of {offset}, which is not always a multiple of the "
        f"{start.unit} bytes that `{kernel}` counts in"
    )
    if fine:
        text = f"`{kernel}` takes {name} where it starts"
    elif start.unit is None:
        text = f"{name} starts at an offset of {offset}, `{kernel}` takes no offset"
    help = () if start.unit else ("copy it to an offset of 0 with `R.memory.ensure_zero_offset`",)
    return Message(text, label=f"{name} at an offset of {offset}", help=help)


RULE = Rule(
    code="RLX303",
    name="kernel-offset",
    family="kernels",
    summary="a tensor at a byte offset that reaches a kernel which takes none, or not this one",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
    symptoms=FAILURE,
)
