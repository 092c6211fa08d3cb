"""RLX506 unbounded-allocation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation: a declared bound or a check keeps its size finite."""
    for decided in facts.bounds.bounded_sizes():
        op = decided.event
        message = Message(
            f"`{op.place.binding}` has no upper bound: its size cannot be planned and grows with the input",
            label=facts.shape_label(op),
            help=('declare one with `R.func_attr({"tir_var_upper_bound": {...}})`',),
        )
        if decided.decision.verdict is Verdict.ALWAYS_FINE:
            message = Message(f"the size of `{op.place.binding}` is bounded")
        yield Judgement.of(decided, op.place, message)


RULE = Rule(
    code="RLX506",
    name="unbounded-allocation",
    family="declarations",
    summary="an allocation whose size has no upper bound and cannot be planned",
    since="0.1.0",
    source=__file__,
    check=check,
    # Dynamic shapes are a feature: every dynamic model has many such allocations, and they work.
    default=False,
    symptoms=NOTHING_TO_SEE,
)
