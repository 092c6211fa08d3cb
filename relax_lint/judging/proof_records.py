"""The record of a decision: the question as a script for any solver, or the reason in words."""

from __future__ import annotations

from relax_lint.results.check import ProofRecord, RecordedClaim
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.asked import Plain, is_constant
from relax_lint.symbolic.decision import Decision
from relax_lint.symbolic.printing import expr_text
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
        claims = [
            (asked.statement if asked.exact else Plain(condition), domain)
            for asked, condition, domain in decision.claims
        ]
        text = script(claims, decision.assumptions, always_holds=always_holds)
        return ProofRecord(text, True, claims=_recorded(decision))
    except Inexpressible as error:
        return ProofRecord(f"Not expressible for a solver: {error}.\n", False, claims=_recorded(decision))


def _recorded(decision: Decision) -> tuple[RecordedClaim, ...]:
    return tuple(
        RecordedClaim(str(asked.statement), {name: expr_text(size) for name, size in asked.names.items()})
        for asked, _, _ in decision.claims
        if not is_constant(asked.statement)
    )
