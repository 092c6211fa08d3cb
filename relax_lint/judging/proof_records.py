"""The record of a decision: the question as a script for any solver, or the reason in words."""

from __future__ import annotations

from relax_lint.results.check import ProofRecord
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.decision import Decision
from relax_lint.symbolic.smtlib import Inexpressible, script


def record_of(decision: Decision) -> ProofRecord | None:
    """The record of an always-fine or always-wrong decision that kept its claims; None for others."""
    if decision.verdict is Verdict.NEEDS_RUNTIME_CHECK:
        return None
    if not decision.claims:
        return ProofRecord(
            "Not a claim about integers: it follows from the order of operations or from the text.\n",
            False,
        )
    try:
        always_holds = decision.verdict is Verdict.ALWAYS_FINE
        return ProofRecord(script(decision.claims, decision.assumptions, always_holds=always_holds), True)
    except Inexpressible as error:
        return ProofRecord(f"Not expressible for a solver: {error}.\n", False)
