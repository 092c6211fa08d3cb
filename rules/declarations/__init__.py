"""Declared bounds and run-time checks: are they known, consistent, needed, and does anything enforce them?"""

from __future__ import annotations

from relax_lint.rule import Rule
from relax_lint_rules.declarations import (
    contradictory_bounds,
    unenforced_bound,
    unknown_bound_name,
)

RULES: tuple[Rule, ...] = (
    unenforced_bound.RULE,
    unknown_bound_name.RULE,
    contradictory_bounds.RULE,
)
