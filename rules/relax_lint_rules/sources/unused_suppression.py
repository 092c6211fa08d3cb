"""RLX905 unused-suppression."""

from __future__ import annotations

from relax_lint.rule import WARNINGS, Rule

RULE = Rule(
    code="RLX905",
    name="unused-suppression",
    family="sources",
    summary="an ignore comment that suppresses nothing, or that cannot be understood",
    since="0.1.0",
    source=__file__,
    severity=WARNINGS,
)
