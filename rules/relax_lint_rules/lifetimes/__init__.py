"""Lifetimes and aliasing: does every tensor, when it is read, still hold what was written to it?"""

from __future__ import annotations

from relax_lint.rule import Rule
from relax_lint_rules.lifetimes import (
    double_kill,
    inplace_hazard,
    live_overlap,
    never_killed,
    undominated_use,
    uninitialised_read,
    unused_allocation,
    use_after_kill,
)

RULES: tuple[Rule, ...] = (
    use_after_kill.RULE,
    double_kill.RULE,
    live_overlap.RULE,
    undominated_use.RULE,
    uninitialised_read.RULE,
    inplace_hazard.RULE,
    never_killed.RULE,
    unused_allocation.RULE,
)
