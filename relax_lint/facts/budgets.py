"""What a function needs against what it may have, and against what it would need at best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.facts.placements import Claim, quantity
from relax_lint.model.program import AllocStorage, AllocTensor, Function, FunctionCall, If, Op, Unknown
from relax_lint.settings.config import Config
from relax_lint.settings.memory_request import WHOLE
from relax_lint.support.byte_text import bytes_text
from relax_lint.symbolic.decision import Decision
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.functions import Select
from relax_lint.symbolic.printing import condition_text
from relax_lint.totals.compute import Totals, size_of
from relax_lint.totals.formula import total
from relax_lint.totals.quantities import Quantity
from relax_lint.vm.allocators import Allocator


@dataclass(frozen=True)
class Budget:
    """The bytes that a function may take: of one scope, or (`scope` empty) of all memory together.

    `need` is what it takes: of all memory what the most demanding of the configured allocators (`allocator`)
    obtains, of a scope what is alive there at one time.
    """

    scope: str
    limit: int
    need: Quantity | Unknown
    allocator: Allocator | None = None


def first_allocation(function: Function) -> Op | None:
    """The operation from which on a function takes memory; checks before it keep inputs away from it all."""
    allocating = (AllocStorage, AllocTensor, FunctionCall, If)
    return next((op for op in function.body.ops if isinstance(op, allocating)), None)


class BudgetFacts:
    """The budgets of one function as claims over `domain`, what holds when it begins to take memory."""

    def __init__(
        self,
        config: Config,
        measure: Callable[[], Totals],
        domain: Domain,
        storages: Sequence[AllocStorage],
    ) -> None:
        self._config = config
        self._measure = measure
        self._domain = domain
        self._storages = storages

    @cached_property
    def _totals(self) -> Totals:
        # Without a budget nothing is measured.
        return self._measure()

    @cached_property
    def budgets(self) -> tuple[Budget, ...]:
        """Every budget that is configured, with what the function takes of it."""
        return tuple(self._budget(scope, limit) for scope, limit in self._config.max_memory)

    def _budget(self, scope: str, limit: int) -> Budget:
        totals = self._totals
        if scope != WHOLE:
            peak = totals.peak_live
            # A scope in which nothing is allocated is not listed; where nothing is known, none is.
            return Budget(scope, limit, peak if isinstance(peak, Unknown) else totals.by_scope.get(scope, 0))
        # Whole pages, never given back: pooled never obtains less than naive.
        pooled = Allocator.POOLED.value in self._config.allocators
        allocator = Allocator.POOLED if pooled else Allocator.NAIVE
        return Budget(scope, limit, totals.reserved[allocator], allocator)

    def kept(self, budget: Budget) -> Claim:
        """The function keeps to the budget, for all admissible values."""
        return Claim(_at_most(budget.need, budget.limit), self._domain)

    def kept_as_asked(self, budget: Budget) -> Claim:
        """The same for the values of the symbols that were asked for."""
        facts: list[Fact] = []
        for binding in self._config.memory.bindings:
            symbol = next((s for s in self._domain.symbols if s.name == binding.name), None)
            if symbol is not None:
                inside = sympy.And(sympy.Ge(symbol, binding.low), sympy.Le(symbol, binding.high))
                facts.append(Fact(inside, FactKind.ASSUMED, f"{binding} (as asked for)"))
        return Claim(_at_most(budget.need, budget.limit), self._domain.with_facts(facts))

    @cached_property
    def largest_storage(self) -> AllocStorage | None:
        """The largest storage of constant size, else the first one of symbolic size."""
        return max(self._storages, key=_constant_bytes, default=None)

    @cached_property
    def planned(self) -> Quantity | Unknown:
        """All storages together, in bytes."""
        counted = self._totals.planned
        if isinstance(counted.dynamic_bytes, Unknown):
            return counted.dynamic_bytes
        return total((counted.static_bytes, counted.dynamic_bytes))

    @cached_property
    def lower_bound(self) -> Quantity | Unknown:
        """What the tensors alone need at one time, in bytes."""
        return size_of(self._totals.lower_bound)

    def planned_within(self, factor: int) -> Claim:
        """All storages together take at most `factor` times what the tensors need at one time."""
        for size in (self.planned, self.lower_bound):
            if isinstance(size, Unknown):
                return Claim(size, self._domain)
        return Claim(sympy.Le(self.planned, factor * sympy.sympify(self.lower_bound)), self._domain)

    @staticmethod
    def text(size: Quantity | Unknown) -> str:
        """Bytes for a message: ``2,048 bytes (2 KiB)``, `` `4*n` bytes``."""
        return bytes_text(size) if isinstance(size, int) else quantity(size)

    @staticmethod
    def fits(decision: Decision) -> str:
        """`fits iff n <= 1830`; empty where that is not known, or not a matter of symbols."""
        return "" if decision.safe_when is None else f"fits iff {condition_text(decision.safe_when)}"


def _constant_bytes(storage: AllocStorage) -> int:
    size = storage.size
    return 0 if isinstance(size, Unknown) or not size.is_Integer else int(size)


def _at_most(need: Quantity | Unknown, limit: int) -> Boolean | Unknown:
    """Of a maximum, each alternative keeps to the limit: that is simpler to decide and to read."""
    if isinstance(need, Unknown):
        return need
    alternatives = need.args if isinstance(need, sympy.Max) else (sympy.sympify(need),)
    return sympy.And(*(_within(each, limit) for each in alternatives))


def _within(need: sympy.Expr, limit: int) -> Boolean:
    """need <= limit. What a pool saves where a size happens to equal another one is stated as a case of its
    own, for which the condition is simple.
    """
    coincidences = sorted(need.atoms(Select), key=str)
    if not coincidences or not _exclude_each_other(need, coincidences):
        return sympy.Le(need, limit)
    apart = need.xreplace(dict.fromkeys(coincidences, sympy.Integer(0)))
    cases = [sympy.Le(apart, limit)]
    for coincidence in coincidences:
        equal, saved, _ = coincidence.args
        there = apart.xreplace({equal.lhs: equal.rhs}) - saved
        cases.append(sympy.And(equal, sympy.Le(there, limit)))
    return sympy.Or(*cases)


def _exclude_each_other(need: sympy.Expr, coincidences: Sequence[sympy.Expr]) -> bool:
    """Whether at most one of the coincidences, each of which is taken away from the need, can hold at a time:
    one size cannot equal several numbers.
    """
    varying = set()
    for coincidence in coincidences:
        equal, _, otherwise = coincidence.args
        if not isinstance(equal, sympy.Eq) or not equal.rhs.is_Integer or otherwise != 0:
            return False
        if not need.is_Add or -coincidence not in need.args:
            return False
        varying.add(equal.lhs)
    return len(varying) == 1
