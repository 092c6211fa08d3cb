"""RLX302 kernel-dtype-mismatch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import FAILURE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call of a kernel: each tensor has the dtype that its entry compares with."""
    for use in facts.kernels.uses:
        wrong = use.match.dtype_mismatches
        if not wrong:
            fine = facts.kernels.certain(use, Verdict.ALWAYS_FINE, "the dtypes are the same")
            yield Judgement(use.call.place, fine, f"`{use.kernel.name}` accepts the dtypes of its arguments")
            continue
        first = wrong[0]
        name = facts.kernels.name_of(use, first.position)
        what = f"{name} is {first.have.name}, the kernel takes {first.want.name}"
        yield Judgement(
            use.call.place,
            facts.kernels.certain(use, Verdict.ALWAYS_WRONG, "the dtypes differ"),
            f"`{use.kernel.name}` refuses its arguments: {what}",
            label=what,
        )


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
