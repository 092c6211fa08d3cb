"""The links of the chain of provers over one list of facts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean, Not

from relax_lint.results.verdict import Prover
from relax_lint.symbolic import backend
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.formula import Formula, Unsupported, is_polynomial, to_formula
from relax_lint.symbolic.knowledge import Knowledge
from relax_lint.symbolic.regions import to_condition
from relax_lint.symbolic.search import QUICK, THOROUGH, Point, Search
from relax_lint.symbolic.work import spend, spend_once, stage

Symbols = tuple[Any, ...]
Conditions = tuple[Boolean, ...]

NONLINEAR_RLIMIT = 10_000
PER_LINEAR, PER_NONLINEAR = 0.2, 6
"""Steps of work for a resource step of Z3: those of its nonlinear arithmetic take up to a hundred times
as long, so that it gets fewer of them."""
PER_FACT = 40


class Links:
    """Proves claims under conditions on int64 symbols, and finds members of the domain they describe."""

    def __init__(self, *, rlimit: int, max_points: int) -> None:
        self._rlimit = rlimit
        self._max_points = max_points
        self._knowledge: dict[tuple[Symbols, Conditions], Knowledge] = {}
        self._searches: dict[tuple[Symbols, Conditions], Search] = {}

    def knowledge(self, symbols: Symbols, conditions: Conditions) -> Knowledge:
        """What the conditions say, worked out once."""
        key = symbols, conditions
        known = self._knowledge.get(key)
        if known is None:
            known = self._knowledge[key] = Knowledge(symbols, conditions)
        spend_once(key, PER_FACT * len(conditions) + known.work)
        return known

    def search(self, symbols: Symbols, conditions: Conditions) -> Search:
        """The search over the domain that the conditions describe."""
        key = symbols, conditions
        if key not in self._searches:
            self._searches[key] = Search(self.knowledge(symbols, conditions))
        return self._searches[key]

    def expressible(self, claim: Boolean) -> bool:
        """Whether the claim is built from relations between integer expressions."""
        try:
            to_formula(claim)
        except Unsupported:
            return False
        return True

    def prove(self, symbols: Symbols, conditions: Conditions, claim: Boolean) -> Prover | None:
        """The cheapest link that shows the claim for every member of the domain, None if none does."""
        if claim == sympy.true:
            return Prover.CONSTANT
        with stage():
            return self._prove_defined(symbols, conditions, claim)
        return None

    def _prove_defined(self, symbols: Symbols, conditions: Conditions, claim: Boolean) -> Prover | None:
        if self.doubtful_divisor(claim, symbols, conditions) is not None:
            everywhere = self._holds_everywhere(self.search(symbols, conditions), symbols, claim)
            return Prover.CONSTANT if everywhere else None
        return self._prove(symbols, conditions, claim)

    def prove_at_once(self, symbols: Symbols, conditions: Conditions, claim: Boolean) -> Prover | None:
        """The first link of `prove` alone, for claims that have a value everywhere."""
        if any(True for _ in _divisors(claim)):
            return None
        with suppress(Unsupported):
            knowledge = self.knowledge(symbols, conditions)
            return self._plain_proof(knowledge, knowledge.formula(claim))
        return None

    def _plain_proof(self, knowledge: Knowledge, formula: Formula) -> Prover | None:
        if not knowledge.proves(formula):
            return None
        plain = is_polynomial(formula) and all(map(is_polynomial, knowledge.formulas))
        return Prover.POLYNOMIAL if plain else Prover.INTERVAL

    def follows(self, symbols: Symbols, conditions: Conditions, claim: Boolean) -> bool:
        """Whether the claim is a plain consequence of the conditions: no more than the cheap links show."""
        with stage(), suppress(Unsupported):
            knowledge = self.knowledge(symbols, conditions)
            return knowledge.proves(knowledge.formula(claim))
        return False

    def _prove(self, symbols: Symbols, conditions: Conditions, claim: Boolean) -> Prover | None:
        knowledge = self.knowledge(symbols, conditions)
        try:
            formula = knowledge.formula(claim)
        except Unsupported:
            return None
        if (by := self._plain_proof(knowledge, formula)) is not None:
            return by
        search = self.search(symbols, conditions)
        if search.sample(Not(claim)) is not None:
            return None
        if self._holds_everywhere(search, symbols, claim):
            return Prover.CONSTANT
        # In lowest terms, because TVM holds no constant of more than 64 bits.
        reduced = to_condition(to_formula(claim))
        if backend.analyzer_proves(reduced, conditions, knowledge.bounds):
            return Prover.ANALYZER
        if self._z3_proves(reduced, conditions):
            return Prover.Z3
        return None

    def _z3_proves(self, claim: Boolean, conditions: Conditions) -> bool:
        linear = all(map(backend.is_linear, (claim, *conditions)))
        limit = self._rlimit if linear else min(self._rlimit, NONLINEAR_RLIMIT)
        # As if it took all that it may: what it did take is not known on every version of TVM.
        spend(int(limit * (PER_LINEAR if linear else PER_NONLINEAR)))
        return backend.z3_proves(claim, conditions, limit)

    def doubtful_divisor(self, claim: Boolean, symbols: Symbols, conditions: Conditions) -> Any:
        """A divisor of the claim that was not shown to differ from zero, or None."""
        for divisor in _divisors(claim):
            nonzero = sympy.Ne(divisor, 0)
            if nonzero == sympy.false or (
                nonzero != sympy.true and self._prove_in_part(symbols, conditions, nonzero) is None
            ):
                return divisor
        return None

    def _prove_in_part(self, symbols: Symbols, conditions: Conditions, claim: Boolean) -> Prover | None:
        with stage():
            return self._prove(symbols, conditions, claim)
        return None

    def witness(self, symbols: Symbols, conditions: Conditions) -> tuple[bool, Point | None]:
        """Whether the domain was proved empty, and a member of it if one was found."""
        knowledge = self.knowledge(symbols, conditions)
        if knowledge.empty:
            return True, None
        search = self.search(symbols, conditions)
        found = search.smallest(sympy.true, QUICK)
        if found.point is None:
            if found.exact or self._prove_in_part(symbols, conditions, sympy.false) is not None:
                return True, None
            found = search.smallest(sympy.true, THOROUGH)
        return False, found.point

    def _holds_everywhere(self, search: Search, symbols: Symbols, claim: Boolean) -> bool:
        members = search.members(self._max_points)
        if members is None:
            return False
        try:
            holds = compile_condition(claim, symbols)
        except TypeError:
            return False
        return all(holds(*point) is True for point in members)


def _divisors(claim: Boolean) -> Iterator[Any]:
    """The divisors of the claim that are not plain non-zero numbers, inner ones first."""
    for e in sorted(claim.atoms(*f.DIVISIONS), key=lambda e: (sympy.count_ops(e), sympy.srepr(e))):
        if not isinstance(e.args[1], sympy.Integer) or e.args[1] == 0:
            yield e.args[1]
