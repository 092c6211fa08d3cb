"""RLX502 unknown-bound-name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import WARNINGS, Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.model.program import DeclaredBound


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every declared bound: its name is that of a symbol of the signature, its value an integer."""
    for bound in facts.function.bounds:
        if bound.value is None:
            yield _no_integer(facts, bound)
        if bound.symbol is not None:
            continue
        meant = facts.symbol_like(bound.name)
        yield Judgement(
            place=None,
            location=facts.function.attributes,
            decision=facts.certain(Verdict.ALWAYS_WRONG, "bounds are matched by name against the signature"),
            message=(
                f"`{bound.kind.value}` names `{bound.name}`, which is no shape symbol of the signature of "
                f"`{facts.function.name}`: TVM ignores it"
            ),
            label=f"no `{bound.name}` in this signature",
            remedies=() if meant is None else facts.remedies.rename(bound, meant),
        )


def _no_integer(facts: FunctionFacts, bound: DeclaredBound) -> Judgement:
    return Judgement(
        place=None,
        location=facts.function.attributes,
        decision=facts.certain(Verdict.ALWAYS_WRONG, "a bound must be an integer"),
        message=(
            f"the `{bound.kind.value}` of `{bound.name}` in `{facts.function.name}` is no integer: "
            "TVM's memory planner refuses the module"
        ),
        label=f"no integer for `{bound.name}`",
        severity=Severity.ERROR,
    )


RULE = Rule(
    code="RLX502",
    name="unknown-bound-name",
    family="declarations",
    summary="a declared bound that names no symbol of the function's signature, or is no integer",
    since="0.1.0",
    source=__file__,
    # The bound is without effect for certain, but memory is planned without it, not wrongly.
    severity=WARNINGS,
    check=check,
    symptoms=NOTHING_TO_SEE,
)
