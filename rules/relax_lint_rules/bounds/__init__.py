"""Sizes and offsets: does every tensor fit inside its storage?"""

from __future__ import annotations

from relax_lint.rule import Rule
from relax_lint_rules.bounds import (
    negative_extent,
    page_slack,
    size_overflow,
    slot_out_of_bounds,
    storage_overflow,
    storage_underrun,
)

RULES: tuple[Rule, ...] = (
    storage_overflow.RULE,
    storage_underrun.RULE,
    size_overflow.RULE,
    negative_extent.RULE,
    page_slack.RULE,
    slot_out_of_bounds.RULE,
)
