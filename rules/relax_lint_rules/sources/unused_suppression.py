"""RLX905 unused-suppression."""

from __future__ import annotations

from relax_lint.rule import WARNINGS, Acceptance, FixAvailability, Kind, Rule

RULE = Rule(
    code="RLX905",
    name="unused-suppression",
    family="sources",
    summary="an ignore comment that suppresses nothing, or that cannot be understood",
    since="0.1.0",
    source=__file__,
    kind=Kind.PROBLEM,
    fix=FixAvailability.SOMETIMES,
    severity=WARNINGS,
    acceptance=Acceptance.NEVER,
    # A fix may remove the finding that a comment suppressed.
    is_side_effect=True,
)
