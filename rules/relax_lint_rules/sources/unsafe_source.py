"""RLX903 unsafe-source."""

from __future__ import annotations

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.rule import Acceptance, Kind, Rule

RULE = Rule(
    code="RLX903",
    name="unsafe-source",
    family="sources",
    summary="a block that would make the parser execute something other than TVMScript",
    since="0.1.0",
    source=__file__,
    kind=Kind.PROBLEM,
    acceptance=Acceptance.NEVER,
    symptoms=NOTHING_TO_SEE,
)
