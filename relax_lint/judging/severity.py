"""How loudly a judgement is told: what its rule says, and less where it rests on too little."""

from __future__ import annotations

from relax_lint.results.verdict import Prover, Severity, Verdict
from relax_lint.rule import Judgement, Rule
from relax_lint.settings.config import Config


def severity_of(rule: Rule, judgement: Judgement, config: Config) -> Severity:
    """The severity of one judgement.

    What no prover decided, and what holds only in an environment that nobody named, is a note unless the
    configuration is `strict`. A severity that the rule gives itself stands.
    """
    verdict = judgement.decision.verdict
    if verdict is Verdict.ALWAYS_FINE:
        return Severity.NONE
    if judgement.severity is not None:
        return judgement.severity
    usual = rule.severity_of(verdict)
    if config.strict or not _rests_on_little(judgement):
        return usual
    return min(usual, Severity.NOTE, key=lambda severity: severity.rank)


def _rests_on_little(judgement: Judgement) -> bool:
    undecided = judgement.decision.proof.by is Prover.UNDECIDED
    return undecided or any(presumption.is_environment for presumption in judgement.presumptions)
