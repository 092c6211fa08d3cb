"""RLX303 kernel-offset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor that reaches a kernel at a byte offset: the kernel was built for such tensors."""
    for use in facts.kernels.uses:
        for start in facts.kernels.starts(use):
            decision = facts.kernels.decide(use, start.claim)
            name, offset = facts.kernels.name_of(use, start.position), facts.bytes(start.offset)
            if decision.verdict is Verdict.ALWAYS_FINE:
                message = f"`{use.kernel.name}` takes {name} where it starts"
            elif start.unit is None:
                message = f"{name} starts at an offset of {offset}, `{use.kernel.name}` takes no offset"
            else:
                message = (
                    f"{name} starts at an offset of {offset}, which is not always a multiple of the "
                    f"{start.unit} bytes that `{use.kernel.name}` counts in"
                )
            remedy = "copy it to an offset of 0 with `R.memory.ensure_zero_offset`"
            yield Judgement(
                use.call.place,
                decision,
                message,
                label=f"{name} at an offset of {offset}",
                # Where no offset is taken, a check would refuse every useful input.
                remedies=facts.remedies.assertion(decision, use.call.place, safe=False),
                help=(remedy,) if start.unit is None else (),
            )


RULE = Rule(
    code="RLX303",
    name="kernel-offset",
    family="kernels",
    summary="a tensor at a byte offset that reaches a kernel which takes none, or not this one",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=FAILURE,
)
