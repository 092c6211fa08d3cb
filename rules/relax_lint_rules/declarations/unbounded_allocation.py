"""RLX506 unbounded-allocation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every allocation: a declared bound or a check keeps its size finite."""
    for op in facts.allocations:
        decision = facts.judge(facts.has_bound(op))
        if decision.verdict is Verdict.ALWAYS_FINE:
            yield Judgement(op.place, decision, f"the size of `{op.place.binding}` is bounded")
            continue
        yield Judgement(
            op.place,
            facts.certain(Verdict.NEEDS_RUNTIME_CHECK, "no bound is declared or checked"),
            f"`{op.place.binding}` has no upper bound: it cannot be planned, and grows with the input",
            label=facts.shape_label(op),
            help=('declare one with `R.func_attr({"tir_var_upper_bound": {...}})`',),
        )


RULE = Rule(
    code="RLX506",
    name="unbounded-allocation",
    family="declarations",
    summary="an allocation whose size has no upper bound and cannot be planned",
    since="0.1.0",
    source=__file__,
    # Dynamic shapes are a feature: every dynamic model has many of these, and all of them work.
    default=False,
    check=check,
    symptoms=NOTHING_TO_SEE,
)
