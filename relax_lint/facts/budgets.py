"""RLX601 and RLX602: does a function keep to its budget, and near to what it would need at best?

Events and claims:

- RLX601, a configured budget: what the function takes is at most that, for the values that were asked for;
- RLX602, the storages of a function: together they take at most `WASTE` times what its tensors need at one
  time.

Verdict: that of the provers, over what holds when the function begins to take memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.planned import rests_on_unplanned
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.budget_values import BudgetValues
from relax_lint.facts.claims import Claim
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.words import quantity
from relax_lint.model.operations import AllocStorage, AllocTensor, FunctionCall, If, Op
from relax_lint.model.program import Function, Program
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from relax_lint.settings.memory_request import WHOLE, MemoryRequest
from relax_lint.support.byte_text import bytes_text
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import Decision
from relax_lint.symbolic.domain import Domain, Fact
from relax_lint.symbolic.functions import Select
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.compute import Totals, size_of
from relax_lint.totals.formula import total
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.totals.packed_memory import may_hand_on
from relax_lint.totals.quantities import Quantity
from relax_lint.totals.workspaces import measure_workspaces
from relax_lint.vm.allocators import Allocator
from relax_lint.vm.facts import FactSource
from relax_lint.vm.scopes import refused_by_pool

WASTE = 2
"""How many times the lower bound the planned total may be."""


@record(frozen=True)
class Budget:
    """The bytes that a function may take: of one scope, or (`scope` empty) of all memory together.

    `need` is what it takes: of all memory what the most demanding of the configured allocators (`allocator`)
    obtains, with the buffers that kernels make themselves unless these are `uncounted` (why), of a scope what
    is alive there at one time.
    """

    scope: str
    limit: int
    need: Quantity | Unknown
    allocator: Allocator | None = None
    uncounted: str | None = None


@record(frozen=True)
class KeptBudget:
    """A budget, and the verdict on whether it is kept for all values, not only for those asked for."""

    budget: Budget
    in_general: Decision


@record(frozen=True)
class PlannedMemory:
    """The bytes of all storages together, of the tensors at one time, and the largest storage of constant
    size, else the first one of symbolic size.
    """

    planned: Quantity | Unknown
    lower_bound: Quantity | Unknown
    largest: AllocStorage


def _first_allocation(function: Function) -> Op | None:
    """The operation from which on a function takes memory; checks before it keep inputs away from it all."""
    allocating = (AllocStorage, AllocTensor, FunctionCall, If)
    return next((op for op in function.body.ops if isinstance(op, allocating)), None)


class BudgetFacts:
    """The budgets of one function, and the verdicts on them."""

    def __init__(
        self,
        function: Function,
        judge: Judge,
        config: Config,
        measure: Callable[[], Totals],
        storages: Sequence[AllocStorage],
        program: Program,
        kernels: KernelMemory | None = None,
        handed_on: Callable[[], AllocStorage | None] = lambda: None,
    ) -> None:
        self._kernels = kernels
        self._handed_on = handed_on
        self._program = program
        self._function = function
        self._judge = judge
        self._config = config
        self._measure = measure
        self._storages = storages

    # -- verdicts ------------------------------------------------------------------------------

    def kept(self) -> Iterator[Decided[KeptBudget]]:
        """Every configured budget: what the function takes keeps to it."""
        for scope, limit in self._config.max_memory:
            budget = self._budget(scope, limit)
            asked = self._domain.with_facts(self._asked())
            within = self._values(budget, self._config.memory)
            as_asked = self._judge.judge(Claim(self._condition(budget, within, asked), asked))
            anything = self._values(budget, MemoryRequest())
            condition = self._condition(budget, anything, self._domain)
            in_general = self._judge.judge(Claim(condition, self._domain))
            yield Decided(KeptBudget(budget, in_general), as_asked, self._presumed(as_asked))

    def _presumed(self, decision: Decision) -> tuple[Presumption, ...]:
        """What a budget relies on: memory that is handed on may live longer than the totals say."""
        if decision.verdict is Verdict.ALWAYS_WRONG:
            return ()
        names = may_hand_on(self._program, self._function)
        return tuple(
            Presumption(f"`{name}` neither returns nor keeps memory that it is given") for name in names
        )

    def _condition(self, budget: Budget, values: BudgetValues, domain: Domain) -> Boolean | Unknown:
        condition = _at_most(budget.need, budget.limit)
        if isinstance(condition, Unknown) and budget.allocator is not None:
            return self._from_limits(budget.limit, budget.allocator, values, condition, domain)
        return condition

    def _values(self, budget: Budget, request: MemoryRequest) -> BudgetValues:
        kernels = self._kernels if budget.uncounted is None else None
        return BudgetValues(self._program, self._function, self._config, kernels, request)

    def planned(self) -> Decided[PlannedMemory] | None:
        """The storages take little more than the tensors need; None where there are none."""
        largest = max(self._storages, key=_constant_bytes, default=None)
        if largest is None:
            return None
        memory = PlannedMemory(self._planned, size_of(self._totals.lower_bound), largest)
        decision = self._judge.judge(Claim(_little_waste(memory), self._domain))
        handed_on = None if decision.verdict is Verdict.ALWAYS_FINE else self._handed_on()
        if handed_on is not None:
            # More tensors only make the storages fit them better.
            why = Unknown(f"what others put on `{handed_on.place.binding}` is not counted")
            decision = self._judge.judge(Claim(why, self._domain))
        return Decided(memory, decision)

    # -- what it is computed from --------------------------------------------------------------

    @cached_property
    def _domain(self) -> Domain:
        """What holds when the function begins to take memory."""
        first = _first_allocation(self._function)
        return self._judge.entry if first is None else self._judge.domain_at(first.place)

    @cached_property
    def _totals(self) -> Totals:
        # Without a budget nothing is measured.
        return self._measure()

    def _budget(self, scope: str, limit: int) -> Budget:
        totals = self._totals
        if scope != WHOLE:
            # A scope without allocations is not listed; if nothing is known, no scope is.
            peak = totals.peak_live
            nothing = peak if isinstance(peak, Unknown) and not totals.by_scope else 0
            return Budget(scope, limit, totals.by_scope.get(scope, nothing))
        allocator = self._demanding(totals)
        need, uncounted = self._with_kernels(totals.reserved[allocator], allocator)
        return Budget(scope, limit, need, allocator, uncounted)

    def _demanding(self, totals: Totals) -> Allocator:
        """The configured allocator that obtains most."""
        # Whole pages, never given back: pooled never obtains less than naive. Where it refuses a scope, there
        # is no call that obtains anything.
        refuses = any(map(refused_by_pool, totals.by_scope))
        allocators = self._config.allocators
        pooled = Allocator.POOLED.value in allocators
        only_naive = not pooled or (refuses and Allocator.NAIVE.value in allocators)
        return Allocator.NAIVE if only_naive else Allocator.POOLED

    def _with_kernels(
        self, reserved: Quantity | Unknown, allocator: Allocator
    ) -> tuple[Quantity | Unknown, str | None]:
        """What the allocator obtains together with the kernels' own buffers; why those do not count, where
        they are not known.
        """
        if self._kernels is None or rests_on_unplanned(self._program, self._function) is not None:
            return reserved, None
        found = measure_workspaces(
            self._program, self._function, self._kernels, page_size=self._config.page_size
        )
        unknown = next((call.size for call in found.calls if isinstance(call.size, Unknown)), None)
        if unknown is not None:
            return reserved, f"the kernels' own buffers are not counted: {unknown.reason}"
        return found.together[allocator], None

    def _from_limits(
        self, limit: int, allocator: Allocator, values: BudgetValues, reason: Unknown, domain: Domain
    ) -> Boolean | Unknown:
        """Where a total keeps to a budget although it has no formula: from limits first, then, for one
        symbol, from exact totals between them.
        """
        if rests_on_unplanned(self._program, self._function) is not None:
            return reason
        limits = values.limits(allocator, self._totals.reserved[allocator])
        if isinstance(limits, Unknown):
            return limits
        symbols = sympy.sympify(limits.most).free_symbols | sympy.sympify(limits.least).free_symbols
        if len(symbols) <= 1:
            return values.of_one_symbol(limits, limit, allocator, next(iter(symbols), None))
        kept, exceeded = _at_most(limits.most, limit), _at_most(limits.least, limit)
        for side, decides in ((kept, Verdict.ALWAYS_FINE), (exceeded, Verdict.ALWAYS_WRONG)):
            if self._judge.judge(Claim(side, domain)).verdict is decides:
                return side
        brackets = values.brackets(limits, limit, allocator)
        return Unknown(f"it {brackets}") if brackets else reason

    def _asked(self) -> Iterator[Fact]:
        """The values of the symbols that were asked for."""
        for binding in self._config.memory.bindings:
            symbol = next((s for s in self._domain.symbols if s.name == binding.name), None)
            if symbol is not None:
                inside = sympy.And(sympy.Ge(symbol, binding.low), sympy.Le(symbol, binding.high))
                yield Fact.of(FactSource.REQUESTED, inside, f"{binding} (requested)")

    @property
    def _planned(self) -> Quantity | Unknown:
        """All storages together, in bytes."""
        counted = self._totals.planned
        if isinstance(counted.dynamic_bytes, Unknown):
            return counted.dynamic_bytes
        return total((counted.static_bytes, counted.dynamic_bytes))

    # -- words ---------------------------------------------------------------------------------

    @staticmethod
    def text(size: Quantity | Unknown) -> str:
        """Bytes for a message: ``2,048 bytes (2 KiB)``, `` `4*n` bytes``."""
        return bytes_text(size) if isinstance(size, int) else quantity(size)

    def fits(self, decision: Decision, *, in_general: bool = False) -> str | None:
        """`fits iff n <= 1830`, or which values of each symbol fit; None where that is not known, or not a
        matter of symbols.
        """
        if decision.safe_when is None:
            return None
        request = MemoryRequest() if in_general else self._config.memory
        return BudgetValues(self._program, self._function, self._config, None, request).text(
            decision.safe_when
        )


def _little_waste(memory: PlannedMemory) -> Boolean | Unknown:
    for size in (memory.planned, memory.lower_bound):
        if isinstance(size, Unknown):
            return size
    return sympy.Le(memory.planned, WASTE * sympy.sympify(memory.lower_bound))


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
