"""RLX601 over-budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Prover, Severity, Verdict
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.budgets import KeptBudget
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.judge import Decided

_RELATION = {
    Verdict.ALWAYS_FINE: "stays within",
    Verdict.ALWAYS_WRONG: "exceeds",
    Verdict.NEEDS_RUNTIME_CHECK: "can exceed",
}
_READABLE = 80
"""Characters; the formula of a pool can be too long for a headline."""


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every configured budget: the function needs no more than that."""
    for decided in facts.budgets.kept():
        # A budget that may be exceeded is not kept, for whatever reason.
        severity = Severity.WARNING if decided.decision.proof.by is Prover.UNDECIDED else None
        yield Judgement.of(decided, None, _message(facts, decided), severity=severity)


def _message(facts: FunctionFacts, decided: Decided[KeptBudget]) -> Message:
    budget, decision = decided.event.budget, decided.decision
    fits, fits_in_general = (
        facts.budgets.fits(decision),
        facts.budgets.fits(decided.event.in_general, in_general=True),
    )
    takes, limit = facts.budgets.text(budget.need), facts.budgets.text(budget.limit)
    with_what = f"in scope `{budget.scope}`"
    if budget.allocator is not None:
        with_what = f"with the {budget.allocator.value} allocator"
    elsewhere = fits_in_general if fits is None else None
    text = f"`{facts.function.name}` {_RELATION[decision.verdict]} the budget of {limit} {with_what}"
    return Message(
        text if fits is None else f"{text}: {fits}",
        label=f"needs {takes}" if len(takes) <= _READABLE else "",
        notes=tuple(note for note in (elsewhere, budget.uncounted) if note is not None),
    )


RULE = Rule(
    code="RLX601",
    name="over-budget",
    family="budget",
    summary="a function that takes more memory than the configured budget",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=NOTHING_TO_SEE,
    applies=lambda config: bool(config.max_memory),
)
