"""RLX902 unresolved-name."""

from __future__ import annotations

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.rule import Acceptance, Kind, Rule

RULE = Rule(
    code="RLX902",
    name="unresolved-name",
    family="sources",
    summary="a block that depends on a value that is unknown unless the file runs",
    since="0.1.0",
    source=__file__,
    kind=Kind.PROBLEM,
    acceptance=Acceptance.BY_NAME,
    symptoms=NOTHING_TO_SEE,
)
