"""Claims put to the provers, each question once per function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.facts.placements import Claim
from relax_lint.model.program import Unknown
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.symbolic.decision import Decision, FailureStatus, FirstFailure, Proof
from relax_lint.symbolic.domain import Domain
from relax_lint.symbolic.prover import ProverChain


class Judge:
    """Asks the chain of provers and remembers the answers, and with `keep_claims` the questions too."""

    def __init__(self, chain: ProverChain, *, keep_claims: bool = False) -> None:
        self._chain = chain
        self._keep_claims = keep_claims
        # A domain is part of a key by identity, and kept alive for that: operations share domains,
        # and comparing their facts costs more.
        self._kept: list[Domain] = []
        self._decisions: dict[tuple[Boolean, int], Decision] = {}
        self._failures: dict[tuple[Boolean, int], FirstFailure] = {}

    def judge(self, *claims: Claim) -> Decision:
        """The verdict on a claim; with several claims, on the operation of which one holds per path.

        Which of several alternatives a run takes is not known, so the verdict is certain only
        where all alternatives agree.
        """
        decision = self._judge(claims)
        if not self._keep_claims or decision.verdict is Verdict.NEEDS_RUNTIME_CHECK:
            return decision
        return replace(decision, claims=tuple((claim.condition, claim.domain) for claim in claims))

    def _judge(self, claims: Sequence[Claim]) -> Decision:
        decisions = [self._decide(claim) for claim in claims]
        reachable = [decision for decision in decisions if decision.reachable]
        if not reachable:
            return decisions[0]
        if len({decision.verdict for decision in reachable}) == 1:
            return reachable[0]
        undecided = [d for d in reachable if d.verdict is Verdict.NEEDS_RUNTIME_CHECK]
        if undecided:
            return undecided[0]
        wrong = next(d for d in reachable if d.verdict is Verdict.ALWAYS_WRONG)
        proof = Proof(wrong.proof.by, "fine or wrong depending on the branch that was taken")
        return Decision(Verdict.NEEDS_RUNTIME_CHECK, proof, wrong=wrong.wrong)

    def is_reachable(self, domain: Domain) -> bool:
        """Whether any assignment satisfies the facts of a domain."""
        return self._chain.decide(sympy.true, domain).reachable

    def holds_only_if(self, claim: Claim, condition: sympy.Basic | None) -> bool:
        """Whether the claim can hold only where `condition` does."""
        if condition is None or isinstance(claim.condition, Unknown):
            return False
        return self._chain.entails(claim.domain, sympy.Or(sympy.Not(claim.condition), condition))

    def implies(self, domain: Domain, condition: Boolean, other: Boolean) -> bool:
        """Whether `other` holds in a domain wherever `condition` does."""
        return self._chain.entails(domain, sympy.Or(sympy.Not(condition), other))

    def first_failure(self, claims: Sequence[Claim]) -> FirstFailure:
        """The smallest assignment that violates a claim, with declared bounds dropped."""
        # With several alternatives the first failure depends on the branch that is taken.
        condition = claims[0].condition
        if len(claims) > 1 or isinstance(condition, Unknown):
            return FirstFailure(FailureStatus.UNKNOWN)
        key = self._key(condition, claims[0].domain)
        known = self._failures.get(key)
        if known is None:
            known = self._failures[key] = self._chain.first_failure(condition, claims[0].domain)
            self._kept.append(claims[0].domain)
        return known

    def _decide(self, claim: Claim) -> Decision:
        if isinstance(claim.condition, Unknown):
            proof = Proof(Prover.UNDECIDED, claim.condition.reason)
            return Decision(Verdict.NEEDS_RUNTIME_CHECK, proof)
        key = self._key(claim.condition, claim.domain)
        known = self._decisions.get(key)
        if known is None:
            known = self._decisions[key] = self._chain.decide(claim.condition, claim.domain)
            self._kept.append(claim.domain)
        return known

    def _key(self, condition: Boolean, domain: Domain) -> tuple[Boolean, int]:
        return condition, id(domain)
