"""Claims put to the provers, and what a verdict on an event is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Generic, TypeVar

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.divisors import divided
from relax_lint.analysis.domains import AT_RETURN, domains_of, entry_domain
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.callers import in_each_call
from relax_lint.facts.claims import Claim, all_of
from relax_lint.facts.on_the_way import unwrapped
from relax_lint.model.operations import FunctionCall, Op, OperationId
from relax_lint.model.program import Function
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.asked import Asking
from relax_lint.symbolic.decision import Decision, FailureStatus, FirstFailure, Proof
from relax_lint.symbolic.domain import Domain, Fact
from relax_lint.symbolic.prover import ProverChain
from relax_lint.symbolic.quantity import Unknown

Event = TypeVar("Event", covariant=True)


@record(frozen=True)
class Decided(Generic[Event]):
    """The verdict on an event, and what it relies on besides facts about symbols.

    `only_empty`: it is safe only where the tensors that it concerns are empty.
    """

    event: Event
    decision: Decision
    presumptions: tuple[Presumption, ...] = ()
    only_empty: bool = False


class Judge:
    """Asks the chain of provers about one function; with `keep_claims` an answer keeps its question. `calls`
    gives all calls of the function, each with the function that it is in: none where not all are known. Where
    only those are not known that parts of the module make which were not read, `read_calls` gives the others.
    """

    def __init__(
        self,
        function: Function,
        chain: ProverChain,
        *,
        trust_declared_bounds: bool,
        keep_claims: bool,
        calls: Callable[[], Sequence[tuple[Function, FunctionCall]]] = tuple,
        read_calls: Callable[[], Sequence[tuple[Function, FunctionCall]]] = tuple,
    ) -> None:
        self._function = function
        self._chain = chain
        self._trust = trust_declared_bounds
        self.keeps_claims = keep_claims
        self._get_calls = calls
        self._get_read_calls = read_calls
        self._domains_of_callers: dict[str, dict[int, Domain]] = {}
        self._decided: dict[tuple[int, int], tuple[Boolean, Domain, Decision]] = {}
        """By the identities of a condition and a domain, which are kept: to compare them costs more."""

    # -- where ---------------------------------------------------------------------------------

    @cached_property
    def entry(self) -> Domain:
        """What holds when the function is entered."""
        return entry_domain(self._function, trust_declared_bounds=self._trust)

    @cached_property
    def enforced_at_entry(self) -> Domain:
        """What is enforced when the function is entered: its declared bounds are not."""
        return entry_domain(self._function, trust_declared_bounds=False)

    @cached_property
    def _domains(self) -> dict[int, Domain]:
        return domains_of(self._function, self.entry)

    def domain_at(self, place: OperationId) -> Domain:
        """What holds when an operation is reached."""
        return self._domains[place.index]

    def claim_at(self, condition: Boolean | Unknown, op: Op | None, asked: Asking | None = None) -> Claim:
        """A condition as a claim where an operation is, or (None) where the function returns."""
        domain = self._domains[AT_RETURN] if op is None else self.domain_at(op.place)
        return Claim(condition, domain, asked)

    # -- verdicts ------------------------------------------------------------------------------

    def judge(self, *claims: Claim) -> Decision:
        """The verdict on a claim; with several claims, on the operation of which one holds per path.

        Which of several alternatives a run takes is not known, so the verdict is certain only
        where all alternatives agree, and safe is what is safe whichever it takes.
        """
        decision = self._judge(claims)
        if decision.verdict is Verdict.NEEDS_RUNTIME_CHECK:
            return self.in_each_call(claims, self._calls) or self._unless_read(claims, decision)
        if not self.keeps_claims:
            return decision
        # Where one of them is unknown, so is the verdict.
        kept = tuple(
            (claim.unfolded(), claim.condition, self._chain.reached(claim.domain)) for claim in claims
        )
        return replace(decision, claims=kept)

    def judge_event(self, claim: Claim, certainty: Certainty, why_not: str = "") -> Decision:
        """The verdict on an event that does harm unless the claim holds. What only may happen is never
        always wrong: `why_not` says why it may not.
        """
        decision = self.judge(claim)
        if certainty is Certainty.MUST or decision.verdict is Verdict.ALWAYS_FINE:
            return decision
        proof = replace(decision.proof, detail=why_not)
        return Decision(Verdict.NEEDS_RUNTIME_CHECK, proof, wrong=decision.wrong, reaches=decision.reaches)

    def harm(self, op: Op | None, certainty: Certainty, why_not: str = "") -> Decision:
        """The verdict on what does harm whenever it happens, at an operation or (None) at the return."""
        return self.judge_event(self.claim_at(sympy.false, op), certainty, why_not)

    def _judge(self, claims: Sequence[Claim]) -> Decision:
        if len(claims) == 1:
            return self._decide(claims[0])
        decided = [(claim, self._decide(claim)) for claim in claims]
        # On a path that nobody takes all is fine.
        taken = [(claim, one) for claim, one in decided if one.reachable] or decided
        decisions = [one for _, one in taken]
        verdicts = {one.verdict for one in decisions}
        if len(verdicts) == 1 and Verdict.NEEDS_RUNTIME_CHECK not in verdicts:
            return replace(decisions[0], assumptions=assumed_by(decisions))
        if Verdict.NEEDS_RUNTIME_CHECK in verdicts:
            together = self._decide(_together([claim for claim, _ in taken]))
            if together.verdict is Verdict.NEEDS_RUNTIME_CHECK:
                return together
        found = next(one for one in decisions if one.verdict is not Verdict.ALWAYS_FINE)
        proof = Proof(found.proof.by, "safe or not depending on the branch taken")
        return Decision(Verdict.NEEDS_RUNTIME_CHECK, proof, wrong=found.wrong, reaches=found.reaches)

    def _decide(self, claim: Claim) -> Decision:
        if isinstance(claim.condition, Unknown):
            proof = Proof(Prover.UNDECIDED, claim.condition.reason)
            return Decision(Verdict.NEEDS_RUNTIME_CHECK, proof)
        condition, domain = claim.condition, claim.domain
        known = self._decided.get((id(condition), id(domain)))
        if known is None:
            known = condition, domain, self._with_examples(condition, domain)
            self._decided[id(condition), id(domain)] = known
        return known[2]

    def _with_examples(self, condition: Boolean, domain: Domain) -> Decision:
        """The verdict on a condition, with examples that nothing stops on the way."""
        decision = self._chain.decide(condition, domain)
        if not (decision.fine or decision.wrong) or not (kept := self._kept_on_the_way(domain)):
            return decision
        among = self._chain.decide(condition, domain.with_facts(kept))
        reaches = decision.reaches and among.reaches
        return replace(decision, fine=among.fine, wrong=among.wrong, reaches=reaches)

    def _kept_on_the_way(self, domain: Domain) -> tuple[Fact, ...]:
        """What an example keeps to: no division by zero, and nothing that wraps around in a comparison."""
        return (*self._divided, *unwrapped(domain))

    @cached_property
    def _divided(self) -> tuple[Fact, ...]:
        return divided(self._function)

    def in_each_call(
        self, claims: Sequence[Claim], calls: Sequence[tuple[Function, FunctionCall]]
    ) -> Decision | None:
        """That all claims hold in each of these calls of the function; None where that is not proved."""
        decisions = []
        for claim in claims:
            if isinstance(claim.condition, Unknown):
                return None
            decision = in_each_call(claim.condition, self._function, calls, self._at_call)
            if decision is None:
                return None
            decisions.append(decision)
        return replace(decisions[0], assumptions=assumed_by(decisions))

    def _unless_read(self, claims: Sequence[Claim], decision: Decision) -> Decision:
        """A decision, undecided where the calls that were read are fine: it is up to the others."""
        calls = self._get_read_calls()
        found = self.in_each_call(claims, calls) if calls else None
        if found is None:
            return decision
        detail = f"{found.proof.detail} that {'was' if len(calls) == 1 else 'were'} read; others were not"
        return replace(decision, proof=Proof(Prover.UNDECIDED, detail))

    @cached_property
    def _calls(self) -> Sequence[tuple[Function, FunctionCall]]:
        return self._get_calls()

    def _at_call(self, caller: Function, call: Op, condition: Boolean) -> Decision:
        """The verdict on a condition where another function calls this one."""
        domains = self._domains_of_callers.get(caller.name)
        if domains is None:
            entry = entry_domain(caller, trust_declared_bounds=self._trust)
            domains = self._domains_of_callers[caller.name] = domains_of(caller, entry)
        domain = domains[call.place.index]
        decision = self._chain.decide(condition, domain)
        # What is passed has the extents of its type only where the casts that gave it that type were checked.
        guessed = (
            fact
            for fact in domain.facts
            if fact.guessed
            and isinstance(fact.condition, sympy.Eq)
            and not fact.condition.free_symbols.isdisjoint(condition.free_symbols)
        )
        assumptions = tuple(dict.fromkeys((*decision.assumptions, *guessed)))
        return decision if assumptions == decision.assumptions else replace(decision, assumptions=assumptions)

    # -- other questions -----------------------------------------------------------------------

    def is_reachable(self, domain: Domain) -> bool:
        """Whether any assignment satisfies the facts of a domain."""
        return self._chain.decide(sympy.true, domain).reachable

    def safe_only_if(
        self, decision: Decision, claim: Claim, condition_of: Callable[[], Boolean | None]
    ) -> bool:
        """Whether a decision on a claim leaves a safe region, and only where a condition holds, which is made
        if that is asked.
        """
        condition = None if decision.safe_when is None else condition_of()
        if condition is None:
            return False
        # Of what is not known there is no safe region.
        assert not isinstance(claim.condition, Unknown)
        return self.implies(claim.domain, claim.condition, condition)

    def implies(self, domain: Domain, condition: Boolean, other: Boolean) -> bool:
        """Whether `other` holds in a domain wherever `condition` does."""
        return self._chain.entails(domain, sympy.Or(sympy.Not(condition), other))

    def first_failure(self, claims: Sequence[Claim]) -> FirstFailure:
        """The smallest assignment that violates a claim, with declared bounds dropped."""
        # With several alternatives the first failure depends on the branch that is taken.
        condition = claims[0].condition
        if len(claims) > 1 or isinstance(condition, Unknown):
            return FirstFailure(FailureStatus.UNKNOWN)
        first = self._chain.first_failure(condition, claims[0].domain)
        if first.at is not None and (kept := self._kept_on_the_way(claims[0].domain)):
            among = self._chain.first_failure(condition, claims[0].domain.with_facts(kept))
            first = FirstFailure(FailureStatus.UNKNOWN) if among.at is None else among
        in_calls = None if first.at is None else self.in_each_call(claims, self._calls)
        return first if in_calls is None or in_calls.assumptions else FirstFailure(FailureStatus.NEVER)


def assumed_by(decisions: Sequence[Decision]) -> tuple[Fact, ...]:
    """What one of several decisions assumes."""
    return tuple(dict.fromkeys(fact for one in decisions for fact in one.assumptions))


def _together(claims: Sequence[Claim]) -> Claim:
    """All of several claims, where all that is asked is asked; unknown where one of them is."""
    domain = claims[0].domain
    for claim in claims[1:]:
        domain = domain.with_facts(claim.domain.facts)
    unknown = next((claim.condition for claim in claims if isinstance(claim.condition, Unknown)), None)
    return Claim(all_of(claim.condition for claim in claims) if unknown is None else unknown, domain)
