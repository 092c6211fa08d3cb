"""RLX901 parse-error."""

from __future__ import annotations

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.rule import Acceptance, Kind, Rule

RULE = Rule(
    code="RLX901",
    name="parse-error",
    family="sources",
    summary="a block that cannot be parsed",
    since="0.1.0",
    source=__file__,
    kind=Kind.PROBLEM,
    acceptance=Acceptance.BY_NAME,
    symptoms=NOTHING_TO_SEE,
)
