"""The rules that come with relax-lint, by family; each is beside its page."""

from __future__ import annotations

from relax_lint.rule import Rule
from relax_lint_rules import bounds, budget, declarations, kernels, lifetimes, placement, sources

RULES: tuple[Rule, ...] = (
    *bounds.RULES,
    *lifetimes.RULES,
    *kernels.RULES,
    *placement.RULES,
    *declarations.RULES,
    *budget.RULES,
    *sources.RULES,
)
