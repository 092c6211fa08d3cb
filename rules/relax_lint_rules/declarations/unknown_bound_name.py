"""RLX502 unknown-bound-name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import RenameDeclaredBound
from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Severity
from relax_lint.rule import WARNINGS, FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every declared bound: its name is that of a symbol of the signature, its value an integer."""
    where = facts.function.attributes
    for decided in facts.bounds.without_effect():
        bound, function = decided.event.bound, facts.function.name
        if decided.event.is_refused:
            text = (
                f"the `{bound.kind.value}` of `{bound.name}` in `{function}` is not an integer: "
                "TVM's memory planner refuses the module"
            )
            message = Message(text, label=f"the bound of `{bound.name}` is not an integer")
            yield Judgement.of(decided, None, message, location=where, severity=Severity.ERROR)
            continue
        text = (
            f"`{bound.kind.value}` names `{bound.name}`, which is not a shape symbol of the signature of "
            f"`{function}`: TVM ignores it"
        )
        # Only the upper bound of a symbol makes a size constant: without any other the plan is the same.
        severity = None if decided.event.is_missed else Severity.NOTE
        message = Message(text, label=f"`{bound.name}` is not in the signature")
        meant = facts.bounds.symbol_like(bound.name)
        remedy = None if meant is None else RenameDeclaredBound(bound, meant)
        yield Judgement.of(decided, None, message, severity=severity, location=where, remedy=remedy)


RULE = Rule(
    code="RLX502",
    name="unknown-bound-name",
    family="declarations",
    summary="a declared bound that names no symbol of the function's signature, or is not an integer",
    since="0.1.0",
    source=__file__,
    check=check,
    once_per_module=True,
    fix=FixAvailability.SOMETIMES,
    # The bound certainly has no effect, but memory planned without it is still safe.
    severity=WARNINGS,
    symptoms=NOTHING_TO_SEE,
)
