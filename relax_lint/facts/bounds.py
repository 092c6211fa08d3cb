"""RLX501, 502, 503 and 506: are declared bounds known, consistent and enforced, and is every size bounded?

Events and claims:

- RLX501, a declared bound without which some verdict would not be `always-fine`: what is enforced at entry
  implies it;
- RLX502, a declared bound: its name is that of a symbol of the signature, and its value an integer;
- RLX503, the declared bounds of a function that nothing enters: some input satisfies them;
- RLX506, an allocation: bounds and checks keep its size below any address space.

Verdict: that of the provers for RLX501; RLX506 asks for a check wherever there is no proof.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from difflib import get_close_matches
from enum import Enum
from functools import cached_property

import sympy

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.claims import Claim
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.placement import Allocation, PlacementFacts
from relax_lint.model.operations import AllocStorage, Op
from relax_lint.model.program import BoundKind, DeclaredBound
from relax_lint.results.verdict import Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import Assignment, certain
from relax_lint.symbolic.domain import Fact, FactKind
from relax_lint.symbolic.quantity import Unknown

LARGEST_PLANNED = 2**48
"""Bytes from which on a size counts as unbounded: more than any address space holds."""


@record(frozen=True)
class ReliedBound:
    """A declared bound, the operations that are safe only because of it, and where it is known the smallest
    input beyond the bound that overruns a storage, with that storage.
    """

    bound: DeclaredBound
    relying: tuple[Op, ...]
    overrun: tuple[Assignment, AllocStorage] | None


class Fault(Enum):
    """Why a declared bound has no effect."""

    NOT_AN_INTEGER = "not an integer"
    UNKNOWN_NAME = "unknown name"


@record(frozen=True)
class FaultyBound:
    """A declared bound that TVM refuses or ignores. `is_missed`: a symbol has no upper bound, which this one
    may have been meant for.
    """

    bound: DeclaredBound
    fault: Fault
    is_missed: bool

    @property
    def is_refused(self) -> bool:
        """Whether TVM's planner refuses it, rather than leaving it out."""
        return self.fault is Fault.NOT_AN_INTEGER


def _violates(fact: Fact, at: Assignment) -> bool:
    values = {symbol: at[symbol.name] for symbol in fact.condition.free_symbols if symbol.name in at}
    return bool(fact.condition.subs(values) == sympy.false)


class BoundFacts:
    """The declared bounds of one function, and the verdicts on them."""

    def __init__(self, flow: FunctionFlow, judge: Judge, placement: PlacementFacts) -> None:
        self._flow = flow
        self._function = flow.function
        self._judge = judge
        self._placement = placement

    # -- RLX501 --------------------------------------------------------------------------------

    def unenforced(self) -> Iterator[Decided[ReliedBound]]:
        """Every declared bound that a verdict relies on."""
        for bound in self._function.bounds:
            if bound.fact in self._reliance:
                assert bound.fact is not None
                claim = Claim(bound.fact.condition, self._judge.enforced_at_entry)
                relying = self._reliance[bound.fact]
                relied = ReliedBound(bound, relying, self._overrun(bound.fact, relying))
                yield Decided(relied, self._judge.judge(claim))

    def _overrun(self, fact: Fact, relying: tuple[Op, ...]) -> tuple[Assignment, AllocStorage] | None:
        """The smallest first failure of the tensors that rely on a bound, of those that violate the bound."""
        overruns = []
        places = {op.place.index for op in relying}
        violates: dict[tuple[tuple[str, int], ...], bool] = {}
        for placement in self._placement.placements:
            if placement.tensor.place.index not in places:
                continue
            at = self._judge.first_failure(placement.fits()).at
            if at is None:
                continue
            assert placement.storage is not None
            key = tuple(at.items())
            if key not in violates:
                violates[key] = _violates(fact, at)
            if violates[key]:
                overruns.append((at, placement.storage))
        return min(overruns, key=lambda overrun: sum(overrun[0].values()), default=None)

    @cached_property
    def _reliance(self) -> dict[Fact, tuple[Op, ...]]:
        """Which operations are fine only under an assumed fact."""
        relying: dict[Fact, dict[int, Op]] = defaultdict(dict)
        for op, decision in self._placement.decisions():
            if decision.reachable and decision.verdict is Verdict.ALWAYS_FINE:
                for fact in decision.assumptions:
                    relying[fact][op.place.index] = op
        return {fact: tuple(ops[index] for index in sorted(ops)) for fact, ops in relying.items()}

    # -- RLX502 --------------------------------------------------------------------------------

    def without_effect(self) -> Iterator[Decided[FaultyBound]]:
        """Every declared bound that is not an integer, or names no symbol of a signature. One map may be
        attached to every function of a module: a name is known if any of them has it.
        """
        for bound in self._function.bounds:
            if bound.value is None:
                decision = certain(Verdict.ALWAYS_WRONG, "a bound must be an integer")
                yield Decided(FaultyBound(bound, Fault.NOT_AN_INTEGER, is_missed=True), decision)
            if bound.name not in self._names_of_module:
                reason = "bounds are matched by name against the signature"
                is_missed = bound.kind is BoundKind.UPPER and self._may_be_missed(bound.name)
                fault = FaultyBound(bound, Fault.UNKNOWN_NAME, is_missed)
                yield Decided(fault, certain(Verdict.ALWAYS_WRONG, reason))

    def _may_be_missed(self, name: str) -> bool:
        """Whether a function that has a bound of this name has a symbol without an upper bound."""
        for function in self._flow.program.functions:
            upper = [bound for bound in function.bounds if bound.kind is BoundKind.UPPER]
            bounded = {bound.symbol for bound in upper}
            if any(b.name == name for b in upper) and any(s.symbol not in bounded for s in function.symbols):
                return True
        return False

    @cached_property
    def _names_of_module(self) -> frozenset[str]:
        return frozenset(
            info.symbol.name
            for function in self._flow.program.functions
            for info in function.symbols
            if info.in_signature
        )

    def symbol_like(self, name: str) -> str | None:
        """The one symbol of the signature that a misspelt name may mean."""
        names = [info.symbol.name for info in self._function.symbols if info.in_signature]
        same = [candidate for candidate in names if candidate.lower() == name.lower()]
        close = same or get_close_matches(name, names, cutoff=0.75)
        return close[0] if len(close) == 1 else None

    # -- RLX503 --------------------------------------------------------------------------------

    def contradiction(self) -> Decided[tuple[DeclaredBound, ...]] | None:
        """The declared bounds that no input satisfies together: those of one symbol where they
        contradict each other, else all of them. None where the bounds are not at fault.
        """
        enforced = self._judge.enforced_at_entry
        if self._judge.is_reachable(self._judge.entry) or not self._judge.is_reachable(enforced):
            return None
        stated = [(bound, bound.fact) for bound in self._function.bounds if bound.fact is not None]
        symbols = dict.fromkeys(bound.symbol for bound, _ in stated)
        by_symbol = [[one for one in stated if one[0].symbol == symbol] for symbol in symbols]
        for group in (*by_symbol, stated):
            if not self._judge.is_reachable(enforced.with_facts(fact for _, fact in group)):
                reason = "no assignment satisfies the declared bounds"
                bounds = tuple(bound for bound, _ in group)
                return Decided(bounds, certain(Verdict.ALWAYS_WRONG, reason))
        return None

    # -- RLX506 --------------------------------------------------------------------------------

    def bounded_sizes(self) -> Iterator[Decided[Allocation]]:
        """Every allocation: declared bounds and checks keep its size below any address space."""
        for op in self._placement.allocations:
            decision = self._judge.judge(self._is_bounded(op))
            if decision.verdict is not Verdict.ALWAYS_FINE:
                decision = certain(Verdict.NEEDS_RUNTIME_CHECK, "no bound is declared or checked")
            yield Decided(op, decision)

    def _is_bounded(self, op: Allocation) -> Claim:
        """A constant size is bounded however large it is."""
        size, domain = op.size if isinstance(op, AllocStorage) else op.bytes, self._judge.domain_at(op.place)
        if isinstance(size, Unknown):
            return Claim(size, domain)
        condition = sympy.true if size.is_Integer else sympy.Le(size, LARGEST_PLANNED)
        return Claim(condition, domain.without(FactKind.GLOBAL))
