"""Declared bounds and run-time checks: are they known, consistent, needed and enforced?"""

from __future__ import annotations

from relax_lint.rule import Rule
from relax_lint_rules.declarations import (
    contradictory_bounds,
    failing_assert,
    redundant_assert,
    unbounded_allocation,
    unchecked_parameter,
    unenforced_bound,
    unknown_bound_name,
)

RULES: tuple[Rule, ...] = (
    unenforced_bound.RULE,
    unknown_bound_name.RULE,
    contradictory_bounds.RULE,
    redundant_assert.RULE,
    failing_assert.RULE,
    unbounded_allocation.RULE,
    unchecked_parameter.RULE,
)
