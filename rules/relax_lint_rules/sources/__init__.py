"""Sources that could not be analysed, and useless ignore comments. The reading of sources and the applying of
comments report them, so these rules have no check of their own.
"""

from __future__ import annotations

from relax_lint.rule import Rule
from relax_lint_rules.sources import (
    analysis_failed,
    parse_error,
    unresolved_name,
    unsafe_source,
    unused_suppression,
)

RULES: tuple[Rule, ...] = (
    parse_error.RULE,
    unresolved_name.RULE,
    unsafe_source.RULE,
    analysis_failed.RULE,
    unused_suppression.RULE,
)
