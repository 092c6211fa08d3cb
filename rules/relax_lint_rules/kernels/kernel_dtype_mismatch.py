"""RLX302 kernel-dtype-mismatch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import FAILURE
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.kernels import KernelUse


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call of a kernel: each tensor and each number has the dtype of its parameter."""
    for decided in facts.arguments.dtypes():
        yield Judgement.of(decided, decided.event.call.place, _message(facts, decided.event))


def _message(facts: FunctionFacts, use: KernelUse) -> Message:
    wrong = next(iter(use.dtype_mismatches), None)
    unknown = use.match.unknown_dtype
    if wrong is None and unknown is not None:
        what = f"the dtype of {facts.kernels.name_of(use, unknown)} is unknown"
        return Message(f"`{use.kernel.name}` may reject its arguments: {what}", label=what)
    if wrong is None:
        return Message(f"`{use.kernel.name}` accepts the dtypes of its arguments")
    name = facts.kernels.name_of(use, wrong.position)
    what = f"{name} is {wrong.have}, the kernel expects {wrong.want}"
    return Message(f"`{use.kernel.name}` rejects its arguments: {what}", label=what)


RULE = Rule(
    code="RLX302",
    name="kernel-dtype-mismatch",
    family="kernels",
    summary="a kernel that is called with a dtype it does not accept",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=FAILURE,
)
