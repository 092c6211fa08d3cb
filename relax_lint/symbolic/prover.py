"""The chain of provers: a verdict on a claim over a domain, with its proof, region and examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import sympy
from sympy.logic.boolalg import Boolean, Not

from relax_lint.results.verdict import Prover, Verdict
from relax_lint.symbolic.answers import Answer, Answers
from relax_lint.symbolic.decision import Assignment, Decision, FailureStatus, FirstFailure, Proof
from relax_lint.symbolic.domain import Domain, FactKind
from relax_lint.symbolic.links import Conditions, Links, Symbols
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.questions import DomainIndex, Posed, Question
from relax_lint.symbolic.regions import safe_region
from relax_lint.symbolic.search import QUICK, THOROUGH, Point
from relax_lint.symbolic.standard import standard
from relax_lint.symbolic.work import AT_ONCE, QUESTION, TooMuchWork, allowed, is_exhausted, stage

DEFAULT_RLIMIT = 200_000

T = TypeVar("T")


_TOO_MUCH_WORK = "one question may take only so much work: no proof and no counterexample was found within it"
_TOO_LARGE = Answer(Verdict.NEEDS_RUNTIME_CHECK, Prover.UNDECIDED, reason=_TOO_MUCH_WORK)
_NO_FAILURE_KNOWN = (FailureStatus.UNKNOWN, None)


class ProverChain:
    """Decides claims, cheapest prover first; deterministic, and each distinct question is asked once.

    `rlimit` bounds Z3 in its own resource steps (200,000 are about 20 ms), `max_extent` is the value from
    which on a largest fine example counts as unbounded, `max_points` the largest domain that is decided
    by evaluating all of it. `answers` are those of earlier chains with the same limits. `decisions` counts
    answers by the prover that gave them, `most_work` is how many steps of `symbolic.work` one of them took.
    """

    def __init__(
        self,
        *,
        rlimit: int = DEFAULT_RLIMIT,
        max_extent: int = 2**40,
        max_points: int = 4096,
        answers: Answers | None = None,
    ) -> None:
        self.decisions: Counter[Prover] = Counter()
        self.most_work = 0
        self._max_extent = max_extent
        self._links = Links(rlimit=rlimit, max_points=max_points)
        self._decided: dict[tuple[Boolean, DomainIndex], Decision] = {}
        self._known = Answers() if answers is None else answers
        self._first_failures: dict[tuple[Boolean, DomainIndex], FirstFailure] = {}
        self._indices: dict[Domain, DomainIndex] = {}
        self._empty: dict[DomainIndex, tuple[Posed, Answer] | None] = {}

    def decide(self, claim: Boolean, domain: Domain) -> Decision:
        """The verdict on the claim over the domain.

        Points at which the claim has no value (a division by zero) are neither fine nor wrong; unless
        they are shown to lie outside the domain the claim is undecided.
        """
        index = self._index(domain)
        key = claim, index
        decision = self._decided.get(key)
        if decision is None:
            decision = self._decided[key] = self._decision(claim, index)
        self.decisions[decision.proof.by] += 1
        # What was left out may refuse them.
        return replace(decision, reaches=False) if _is_left_out(domain, index) else decision

    def entails(self, domain: Domain, claim: Boolean) -> bool:
        """Whether the claim was proved for every member of the domain, assumed facts included."""
        posed = self._index(domain).pose(claim)
        return self._cached(
            self._known.proved,
            (posed.question, tuple(FactKind)),
            lambda: self._links.prove(claim=posed.question.claim, **_full(posed.question)) is not None,
            False,
        )

    def is_empty(self, domain: Domain) -> bool:
        """Whether the domain was proved to have no member."""
        return self._first_empty(self._index(domain)) is not None

    def satisfiable(self, domain: Domain) -> Assignment | None:
        """A member of the domain, checked exactly; None if none was found."""
        index = self._index(domain)
        if index.impossible_facts():
            return None
        values: dict[str, int] = {}
        for symbols in [*index.components(), *({s} for s in domain.symbols)]:
            if not {s.name for s in symbols} <= values.keys():
                posed = index.pose(sympy.true, symbols)
                _, point = self._witness(posed.question)
                if point is None:
                    return None
                values |= posed.assignment(point)
        return {s.name: values[s.name] for s in domain.symbols}

    def first_failure(self, claim: Boolean, domain: Domain) -> FirstFailure:
        """The smallest assignment of non-negative values that violates the claim, without what is promised.

        Only the symbols connected to the claim are assigned. Guesses about the machine are kept: what refutes
        one is not known to reach the operation.
        """
        index = self._index(domain)
        key = claim, index
        known = self._first_failures.get(key)
        if known is None:
            known = self._first_failure(index.pose(claim))
            if known.at is not None and index.guesses:
                kept = self._first_failure(self._index(index.domain.with_lasting_guesses()).pose(claim))
                known = kept if kept.at is not None else FirstFailure(FailureStatus.UNKNOWN)
            self._first_failures[key] = known
        is_refused = known.at is not None and _is_left_out(domain, index)
        return FirstFailure(FailureStatus.UNKNOWN) if is_refused else known

    def _first_failure(self, posed: Posed) -> FirstFailure:
        status, point = self._cached(
            self._known.failures, posed.question, lambda: self._failure(posed.question), _NO_FAILURE_KNOWN
        )
        return FirstFailure(status, None if point is None else posed.assignment(point))

    def reached(self, domain: Domain) -> Domain:
        """A domain without what is guessed in it, where with that it has no member: guesses that contradict
        each other, or what is known, do not make that unreachable which stands behind them.
        """
        return self._index(domain).domain

    def _index(self, domain: Domain) -> DomainIndex:
        index = self._index_of(domain)
        if index.guesses and self._first_empty(index) is not None:
            return self._index_of(domain.without_guesses())
        return index

    def _index_of(self, domain: Domain) -> DomainIndex:
        index = self._indices.get(domain)
        if index is not None:
            return index
        missing: list[Domain] = []
        one: Domain | None = domain
        while one is not None and (index := self._indices.get(one)) is None:
            missing.append(one)
            one = one.wider
        for narrower in reversed(missing):
            index = self._indices[narrower] = DomainIndex(narrower, index)
        assert index is not None
        return index

    def _cached(self, table: dict[Any, T], key: Any, answer: Callable[[], T], unknown: T) -> T:
        """The answer, worked out once; `unknown` where that takes too much work."""
        known = table.get(key)
        if known is None:
            with allowed(QUESTION) as allowance:
                try:
                    known = answer()
                except TooMuchWork:
                    known = unknown
            self.most_work = max(self.most_work, QUESTION - max(allowance.left, 0))
            table[key] = known
        return known

    def _decision(self, claim: Boolean, index: DomainIndex) -> Decision:
        posed = index.pose(claim)
        answer = self._cached(
            self._known.decided, posed.question, lambda: self._answer(posed.question), _TOO_LARGE
        )
        if answer.reachable and (empty := self._first_empty(index)) is not None:
            posed, answer = empty
        facts = tuple(posed.facts[i] for i in answer.assumed)
        fine = None if answer.fine is None else posed.assignment(answer.fine)
        wrong = None if answer.wrong is None else posed.assignment(answer.wrong)
        verdict, proof = answer.verdict, Proof(answer.by, _detail(answer, claim, fine, wrong))
        if verdict is Verdict.ALWAYS_WRONG and any(fact.guessed for fact in facts):
            # Some input may refute the guess, and be fine.
            verdict = Verdict.NEEDS_RUNTIME_CHECK
            proof = Proof(Prover.UNDECIDED, f"{proof.detail}, but only if a guess about the machine is right")
        return Decision(
            verdict=verdict,
            proof=proof,
            reachable=answer.reachable,
            mixed=answer.mixed,
            safe_when=None if answer.region is None else posed.back(answer.region),
            fine=fine,
            wrong=wrong,
            assumptions=facts,
        )

    def _first_empty(self, index: DomainIndex) -> tuple[Posed, Answer] | None:
        """The first component of the domain that was proved empty, as an answer."""
        missing = [index]
        while missing[-1].wider is not None and missing[-1] not in self._empty:
            missing.append(missing[-1].wider)
        for one in reversed(missing):
            if one not in self._empty:
                self._empty[one] = self._find_empty(one)
        return self._empty[index]

    def _find_empty(self, index: DomainIndex) -> tuple[Posed, Answer] | None:
        facts = index.domain.facts
        if impossible := index.impossible_facts():
            believed = all(facts[i].kind is FactKind.ASSUMED for i in impossible)
            posed = index.pose(sympy.true)
            return replace(posed, facts=facts), _unreachable(impossible[:1] if believed else ())
        has_members = index.wider is not None and self._empty[index.wider] is None
        for symbols in index.new_components() if has_members else index.components():
            posed = index.pose(sympy.true, symbols)
            empty, _ = self._witness(posed.question)
            if empty:
                return posed, _unreachable(self._minimal(posed.question, sympy.false))
        return None

    def _witness(self, question: Question) -> tuple[bool, Point | None]:
        """Whether the question's domain was proved empty, and a member if one was found."""
        key = Question(sympy.true, question.size, question.facts)
        return self._cached(
            self._known.witnesses, key, lambda: self._links.witness(**_full(key)), (False, None)
        )

    def _answer(self, q: Question) -> Answer:
        if q.claim == sympy.true:
            return Answer(Verdict.ALWAYS_FINE, Prover.CONSTANT)
        empty, member = self._witness(q)
        if empty:
            return _unreachable(self._minimal(q, sympy.false))
        if (by := self._at_once(q.symbols, q.conditions(FactKind.ENFORCED), q.claim)) is not None:
            return Answer(Verdict.ALWAYS_FINE, by)
        search = self._links.search(**_full(q))
        wrong = search.smallest(Not(q.claim), QUICK)
        fine = search.smallest(q.claim, QUICK)
        if wrong.point is None:
            if (proof := self._prove_levels(q, q.claim)) is not None:
                return Answer(Verdict.ALWAYS_FINE, proof[0], assumed=proof[1])
            wrong = search.smallest(Not(q.claim), THOROUGH)
        if fine.point is None and member is not None:
            if (proof := self._prove_levels(q, Not(q.claim))) is not None:
                return Answer(Verdict.ALWAYS_WRONG, proof[0], wrong=wrong.point or member, assumed=proof[1])
            fine = search.smallest(q.claim, THOROUGH)
        region = None
        with stage():
            region = safe_region(q.claim, self._links.knowledge(q.symbols, _lasting(q)))
        mentioned = tuple(
            i
            for i, (condition, kind) in enumerate(q.facts)
            if kind is FactKind.ASSUMED
            and condition.free_symbols & q.claim.free_symbols
            and not self._links.follows(q.symbols, _lasting(q), condition)
        )
        mixed = fine.point is not None and wrong.point is not None
        largest = None
        if mixed:
            largest = search.largest(q.claim, self._max_extent, QUICK)
        return Answer(
            Verdict.NEEDS_RUNTIME_CHECK,
            Prover.CONSTANT if mixed else Prover.UNDECIDED,
            reason="" if mixed else self._why_undecided(q),
            mixed=mixed,
            region=None if region in (sympy.true, sympy.false) else region,
            fine=largest or fine.point,
            wrong=wrong.point,
            assumed=mentioned,
        )

    def _why_undecided(self, q: Question) -> str:
        if is_exhausted():
            return _TOO_MUCH_WORK
        if (divisor := self._links.doubtful_divisor(q.claim, **_full(q))) is not None:
            return "a divisor in the sizes may be zero" if divisor != 0 else "the sizes divide by zero"
        if not self._links.expressible(q.claim):
            return "the condition uses an operation that no prover supports"
        return "no prover proved it, and no counterexample was found within the search limits"

    def _prove_levels(self, q: Question, claim: Boolean) -> tuple[Prover, tuple[int, ...]] | None:
        """Who proves the claim with the fewest kinds of facts, and the assumed facts that were needed."""
        tried: set[tuple[Boolean, ...]] = set()
        for kinds in ((FactKind.ENFORCED,), (FactKind.ENFORCED, FactKind.GLOBAL)):
            conditions = q.conditions(*kinds)
            if conditions in tried:
                continue
            tried.add(conditions)
            prover = self._links.prove(q.symbols, conditions, claim)
            if prover is not None:
                return prover, ()
        if not q.conditions(FactKind.ASSUMED):
            return None
        prover = self._links.prove(claim=claim, **_full(q))
        return None if prover is None else (prover, self._minimal(q, claim))

    def _at_once(self, symbols: Symbols, conditions: Conditions, claim: Boolean) -> Prover | None:
        """Who proves the claim without any search for a point at which it fails: there is none where it is
        proved, and most claims are. What this costs is not part of the work on the question.
        """
        with allowed(AT_ONCE), suppress(TooMuchWork):
            return self._links.prove_at_once(symbols, conditions, claim)
        return None

    def _minimal(self, q: Question, claim: Boolean) -> tuple[int, ...]:
        """Assumed facts (their positions) that a proof of the claim needs; each one is indispensable."""
        needed = [i for i, (_, kind) in enumerate(q.facts) if kind is FactKind.ASSUMED]
        for position in tuple(needed):
            fewer = [i for i in needed if i != position]
            conditions = _lasting(q) + tuple(q.facts[i][0] for i in fewer)
            if self._links.prove(q.symbols, conditions, claim) is not None:
                needed = fewer
        return tuple(needed)

    def _failure(self, q: Question) -> tuple[FailureStatus, Point | None]:
        if q.claim == sympy.true:
            return FailureStatus.NEVER, None
        conditions = _lasting(q) + tuple(sympy.Ge(s, 0) for s in q.symbols)
        if self._at_once(q.symbols, conditions, q.claim) is not None:
            return FailureStatus.NEVER, None
        search = self._links.search(q.symbols, conditions)
        for budget in (QUICK, THOROUGH):
            found = search.smallest(Not(q.claim), budget)
            if found.exact:
                status = FailureStatus.NEVER if found.point is None else FailureStatus.FAILS
                return status, found.point
            if (
                budget is QUICK
                and found.point is None
                and self._links.prove(q.symbols, conditions, q.claim) is not None
            ):
                return FailureStatus.NEVER, None
        return FailureStatus.UNKNOWN, None


def _is_left_out(domain: Domain, index: DomainIndex) -> bool:
    """Whether an index leaves out guesses of a domain."""
    return len(index.domain.facts) < len(domain.facts)


def _full(q: Question) -> dict[str, Any]:
    return {"symbols": q.symbols, "conditions": q.conditions(*FactKind)}


def _lasting(q: Question) -> tuple[Boolean, ...]:
    """The facts that hold even when a declared bound is violated."""
    return q.conditions(FactKind.ENFORCED, FactKind.GLOBAL)


def _unreachable(assumed: Sequence[int]) -> Answer:
    return Answer(
        Verdict.ALWAYS_FINE,
        Prover.INTERVAL,
        reason="no admissible assignment reaches it",
        reachable=False,
        assumed=tuple(assumed),
    )


_METHODS = {
    Prover.CONSTANT: "constants evaluated as integers",
    Prover.POLYNOMIAL: "polynomial normal form under the facts",
    Prover.INTERVAL: "bounds of the operations under the facts",
    Prover.ANALYZER: "TVM's analyzer",
    Prover.Z3: "Z3 found no counterexample",
}


def _detail(answer: Answer, claim: Boolean, fine: Assignment | None, wrong: Assignment | None) -> str:
    if answer.reason:
        return answer.reason
    if answer.mixed:
        assert fine is not None
        assert wrong is not None
        return f"evaluated: fine at {_at(fine)}, wrong at {_at(wrong)}"
    method, known = _METHODS[answer.by], standard(claim)
    if known in (sympy.true, sympy.false):
        return method
    text = condition_text(known)
    if answer.verdict is Verdict.ALWAYS_WRONG:
        return f"{text} never holds: {method}"
    return f"{text} always holds: {method}"


def _at(assignment: Assignment) -> str:
    return ", ".join(f"{name} = {value}" for name, value in assignment.items())
