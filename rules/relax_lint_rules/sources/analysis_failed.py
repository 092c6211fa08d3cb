"""RLX904 analysis-failed."""

from __future__ import annotations

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.rule import Acceptance, Kind, Rule

RULE = Rule(
    code="RLX904",
    name="analysis-failed",
    family="sources",
    summary="a block on which TVM crashed, ran out of time or memory, or raised an error",
    since="0.1.0",
    source=__file__,
    kind=Kind.PROBLEM,
    acceptance=Acceptance.NEVER,
    symptoms=NOTHING_TO_SEE,
)
