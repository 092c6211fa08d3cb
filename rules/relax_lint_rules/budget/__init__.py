"""The memory totals of a function: are they within the budget and close to the lower bound?"""

from __future__ import annotations

from relax_lint.rule import Rule
from relax_lint_rules.budget import over_budget, planning_waste

RULES: tuple[Rule, ...] = (over_budget.RULE, planning_waste.RULE)
