"""Totals of a function: do they keep to the budget, and near to what is needed at best?"""

from __future__ import annotations

from relax_lint.rule import Rule
from relax_lint_rules.budget import over_budget, planning_waste

RULES: tuple[Rule, ...] = (over_budget.RULE, planning_waste.RULE)
