"""RLX601 over-budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.budgets import Budget
    from relax_lint.facts.function import FunctionFacts

_GOES = {
    Verdict.ALWAYS_FINE: "keeps to",
    Verdict.ALWAYS_WRONG: "exceeds",
    Verdict.NEEDS_RUNTIME_CHECK: "can exceed",
}
_READABLE = 80
"""Characters; the formula of a pool can be longer than anybody reads in a headline."""


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every configured budget: what the function takes keeps to it."""
    for budget in facts.budgets.budgets:
        decision = facts.judge(facts.budgets.kept_as_asked(budget))
        known = facts.budgets.fits(decision)
        in_general = facts.budgets.fits(facts.judge(facts.budgets.kept(budget)))
        takes = facts.budgets.text(budget.need)
        yield Judgement(
            place=None,
            decision=decision,
            message=_message(facts, budget, decision.verdict) + (f": {known}" if known else ""),
            label=f"takes {takes}" if len(takes) <= _READABLE else "",
            notes=(in_general,) if in_general and not known else (),
        )


def _message(facts: FunctionFacts, budget: Budget, verdict: Verdict) -> str:
    limit = facts.budgets.text(budget.limit)
    with_what = f"in scope `{budget.scope}`"
    if budget.allocator is not None:
        with_what = f"with the {budget.allocator.value} allocator"
    return f"`{facts.function.name}` {_GOES[verdict]} the budget of {limit} {with_what}"


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
