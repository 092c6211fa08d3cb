"""Everything that rules may ask about one function, computed once and cached."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property

import sympy

from relax_lint.analysis.domains import domains_of, entry_domain
from relax_lint.analysis.effects import Effect
from relax_lint.analysis.storages import Storages
from relax_lint.facts.assertions import RuntimeCheck, runtime_checks
from relax_lint.facts.bounded import has_bound
from relax_lint.facts.budgets import BudgetFacts, first_allocation
from relax_lint.facts.devices import DeviceFacts
from relax_lint.facts.judge import Judge
from relax_lint.facts.kernels import KernelFacts
from relax_lint.facts.lifetimes import LifetimeFacts
from relax_lint.facts.packing import PackingFacts
from relax_lint.facts.placements import (
    Claim,
    Placement,
    at_least_zero,
    no_negative_extent,
    no_overflow,
    quantity,
)
from relax_lint.facts.program import ProgramFacts
from relax_lint.facts.views import ViewFacts
from relax_lint.fixes.changes import Remedy
from relax_lint.fixes.minimal import MinimalChecks
from relax_lint.fixes.planning import Planner
from relax_lint.model.program import (
    AllocStorage,
    AllocTensor,
    DeclaredBound,
    Function,
    KernelCall,
    Op,
    Place,
    Size,
    Unknown,
    ValueId,
    View,
    ViewKind,
)
from relax_lint.model.types import DType
from relax_lint.results.location import Location
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from relax_lint.sources.unit import Positions
from relax_lint.symbolic.decision import Decision, FirstFailure, certain
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.prover import ProverChain
from relax_lint.totals.compute import Totals, measure
from relax_lint.vm.allocators import Allocator

_BYTE = DType("uint8", 8)


class FunctionFacts:
    """The facts of one function: operations of interest, domains, and decisions of the provers."""

    def __init__(
        self,
        shared: ProgramFacts,
        function: Function,
        config: Config,
        chain: ProverChain,
        positions: Positions,
    ) -> None:
        self.program = shared.program
        self.function = function
        self.config = config
        self._judge = Judge(chain, keep_claims=config.proofs)
        self._positions = positions
        self._shared = shared

    # -- the operations ------------------------------------------------------------------------

    @cached_property
    def operations(self) -> tuple[Op, ...]:
        """Every operation in program order, branches included."""
        return tuple(self.function.body.walk())

    @cached_property
    def storages(self) -> tuple[AllocStorage, ...]:
        """Every alloc_storage."""
        return tuple(op for op in self.operations if isinstance(op, AllocStorage))

    @cached_property
    def tensors(self) -> tuple[AllocTensor, ...]:
        """Every alloc_tensor, also those without a storage of their own yet."""
        return tuple(op for op in self.operations if isinstance(op, AllocTensor))

    @cached_property
    def allocations(self) -> tuple[AllocStorage | AllocTensor, ...]:
        """Every alloc_storage, then every alloc_tensor."""
        return (*self.storages, *self.tensors)

    @cached_property
    def offset_uses(self) -> tuple[AllocTensor | View, ...]:
        """Everything that starts at an offset into memory: tensors on storages and byte views."""
        return (*(placement.tensor for placement in self.placements), *self.byte_views)

    @cached_property
    def byte_views(self) -> tuple[View, ...]:
        """Every `R.memory.view`: the views that may start at an offset."""
        return tuple(op for op in self.operations if isinstance(op, View) and op.kind is ViewKind.MEMORY_VIEW)

    @cached_property
    def placements(self) -> tuple[Placement, ...]:
        """Every tensor that was put on a storage."""
        found = []
        for tensor in self.tensors:
            if tensor.storage is not None:
                storages = self._shared.storages.storages_of(self.function, tensor.storage)
                domain = self.domain_at(tensor.place)
                found.append(Placement(tensor, storages, domain, self.config.page_size))
        return tuple(found)

    # -- facts of one subject each --------------------------------------------------------------

    @cached_property
    def kernels(self) -> KernelFacts:
        """The calls of kernels, and what must hold for them."""
        return KernelFacts(self.program, self.function, self._shared.effects, self.domain_at, self.judge)

    @cached_property
    def lifetimes(self) -> LifetimeFacts:
        """Kills, scopes, and what tensors hold when they are read."""
        return LifetimeFacts(
            self.program,
            self.function,
            self.effect_of,
            self._shared.summaries,
            self.domain_at,
            self.entry,
            self.judge,
            self.holds_only_if,
        )

    @cached_property
    def devices(self) -> DeviceFacts:
        """The devices that values lie on."""

        def storages_of(value: ValueId) -> Storages:
            return self._shared.storages.storages_of(self.function, value)

        return DeviceFacts(self.program, self.function, self.config, storages_of)

    @cached_property
    def views(self) -> ViewFacts:
        """The reshapes and byte windows."""
        return ViewFacts(self.function, self.domain_at)

    @cached_property
    def totals(self) -> Totals:
        """What the function needs, in bytes."""
        return measure(self.program, self.function, page_size=self.config.page_size)

    @cached_property
    def budgets(self) -> BudgetFacts:
        """The totals against what the function may have."""
        first = first_allocation(self.function)
        domain = self.entry if first is None else self.domain_at(first.place)
        return BudgetFacts(self.config, lambda: self.totals, domain, self.storages)

    @cached_property
    def runtime_checks(self) -> tuple[RuntimeCheck, ...]:
        """The checks that the function makes itself."""
        return tuple(runtime_checks(self.function, self.domain_at))

    def has_bound(self, op: AllocStorage | AllocTensor) -> Claim:
        """Declared bounds and checks keep the size of an allocation finite."""
        return has_bound(op, self.domain_at(op.place))

    @cached_property
    def remedies(self) -> Planner:
        """The changes that make findings go away."""
        return Planner(
            self.function,
            self.config,
            self.placements,
            self.domain_at,
            self.entry,
            self.judge,
            self.effect_of,
        )

    def with_minimal_checks(self, findings: Sequence[tuple[Remedy, ...]]) -> list[tuple[Remedy, ...]]:
        """The remedies of all findings of the function, with the fewest and weakest checks."""
        checks = MinimalChecks(self.remedies.definitions, self.domain_at, self.entry, self._judge.implies)
        return checks.unified(findings)

    @cached_property
    def packing(self) -> PackingFacts:
        """The dtypes that are not made of whole bytes."""
        return PackingFacts(self.placements)

    @cached_property
    def unchecked_parameters(self) -> tuple[ValueId, ...]:
        """The tensor parameters that the VM does not check, because they come after `num_input`."""
        checked = self.function.num_input
        after = () if checked is None else self.function.parameters[checked:]
        return tuple(value for value in after if self.function.tensor_type(value) is not None)

    def effect_of(self, call: KernelCall) -> Effect:
        """What a call does to the contents of its arguments."""
        return self._shared.effects.effect_of(call)

    # -- domains -------------------------------------------------------------------------------

    @cached_property
    def entry(self) -> Domain:
        """What holds when the function is entered."""
        return entry_domain(self.function, trust_declared_bounds=self.config.trust_declared_bounds)

    @cached_property
    def _domains(self) -> dict[int, Domain]:
        return domains_of(self.function, self.entry)

    def domain_at(self, place: Place) -> Domain:
        """What holds when an operation is reached."""
        return self._domains[place.index]

    # -- claims --------------------------------------------------------------------------------

    def starts_inside(self, op: AllocTensor | View) -> Claim:
        """offset >= 0."""
        offset = op.offset
        condition = offset if isinstance(offset, Unknown) else at_least_zero(offset)
        return Claim(condition, self.domain_at(op.place))

    def no_negative_extent(self, op: AllocTensor | AllocStorage) -> Claim:
        """No extent of a tensor, or of a storage's size, is negative."""
        extents = op.shape if isinstance(op, AllocTensor) else op.extents
        return no_negative_extent(extents, self.domain_at(op.place))

    def no_overflow(self, op: AllocTensor | AllocStorage) -> Claim:
        """The runtime's byte arithmetic for the operation does not wrap around."""
        domain = self.domain_at(op.place)
        limit = self.config.max_extent
        if isinstance(op, AllocTensor):
            return no_overflow(op.shape, op.dtype, op.offset, domain, max_extent=limit)
        # The size of `R.memory.alloc_storage` is in bytes, whatever its dtype says.
        unit = _BYTE if op.size_in_bytes else op.dtype
        return no_overflow(op.extents, unit, sympy.Integer(0), domain, max_extent=limit)

    # -- decisions -----------------------------------------------------------------------------

    def judge(self, *claims: Claim) -> Decision:
        """The verdict on a claim, or on an operation of which one of several claims holds per path."""
        return self._judge.judge(*claims)

    @property
    def only_pooled(self) -> bool:
        """Whether the pooled allocator is the only one configured."""
        return tuple(self.config.allocators) == (Allocator.POOLED.value,)

    @property
    def strictest_allocator(self) -> Allocator:
        """The configured allocator that leaves the least room: naive, unless it is not configured."""
        names = self.config.allocators
        return Allocator.NAIVE if Allocator.NAIVE.value in names else Allocator.POOLED

    def holds_only_if(self, claim: Claim, condition: sympy.Basic | None) -> bool:
        """Whether the claim can hold only where `condition` does."""
        return self._judge.holds_only_if(claim, condition)

    def first_failures(self, placement: Placement) -> Mapping[str, FirstFailure]:
        """For each configured allocator the smallest assignment at which it refuses the tensor,
        with declared bounds dropped.
        """
        fits = {name: placement.fits(Allocator(name)) for name in self.config.allocators}
        return {name: self._judge.first_failure(claims) for name, claims in fits.items()}

    @cached_property
    def is_entered(self) -> bool:
        """Whether any admissible assignment enters the function at all."""
        return self._judge.is_reachable(self.entry)

    @cached_property
    def contradiction(self) -> tuple[DeclaredBound, ...]:
        """The declared bounds that no input satisfies together: those of one symbol where they
        contradict each other, else all of them. Empty when the bounds are not at fault.
        """
        bounds = [bound for bound in self.function.bounds if bound.fact is not None]
        by_symbol = [[b for b in bounds if b.symbol == symbol] for symbol in {b.symbol: None for b in bounds}]
        for group in (*by_symbol, bounds):
            enforced = entry_domain(self.function, trust_declared_bounds=False)
            domain = enforced.with_facts(bound.fact for bound in group if bound.fact is not None)
            if group and not self._judge.is_reachable(domain):
                return tuple(group)
        return ()

    def bound_holds(self, bound: DeclaredBound) -> Claim:
        """A declared bound as a claim over what is enforced at entry."""
        condition = Unknown("the bound is not an integer") if bound.fact is None else bound.fact.condition
        return Claim(condition, entry_domain(self.function, trust_declared_bounds=False))

    def relying_on(self, bound: DeclaredBound) -> tuple[Op, ...]:
        """The operations whose verdict needs a declared bound."""
        return () if bound.fact is None else self.reliance.get(bound.fact, ())

    def certain(self, verdict: Verdict, reason: str) -> Decision:
        """A verdict that follows from the text alone."""
        return certain(verdict, reason)

    def within_declared(self, placement: Placement) -> tuple[Claim, ...]:
        """offset + bytes <= declared size, wherever the pooled allocator would not refuse."""
        found = []
        for declared, pooled in zip(placement.fits(), placement.fits(Allocator.POOLED), strict=True):
            domain = declared.domain
            if not isinstance(pooled.condition, Unknown):
                fact = Fact(pooled.condition, FactKind.ENFORCED, "within the pages of the storage")
                domain = domain.with_facts((fact,))
            found.append(Claim(declared.condition, domain))
        return tuple(found)

    @cached_property
    def reliance(self) -> Mapping[Fact, tuple[Op, ...]]:
        """Which operations are fine only under an assumed fact."""
        relying: dict[Fact, dict[int, Op]] = defaultdict(dict)
        for op, claims in self._bounds_questions():
            decision = self.judge(*claims)
            if decision.reachable and decision.verdict is Verdict.ALWAYS_FINE:
                for fact in decision.assumptions:
                    relying[fact][op.place.index] = op
        return {fact: tuple(ops[index] for index in sorted(ops)) for fact, ops in relying.items()}

    def _bounds_questions(self) -> Iterable[tuple[Op, tuple[Claim, ...]]]:
        for placement in self.placements:
            yield placement.tensor, placement.fits()
            yield placement.tensor, (self.starts_inside(placement.tensor),)
        for op in self.allocations:
            yield op, (self.no_negative_extent(op),)
            yield op, (self.no_overflow(op),)

    # -- words and places ----------------------------------------------------------------------

    def name_of(self, value: ValueId) -> str:
        """The name of a value in the IR."""
        return self.function.values[value].name

    def symbol_like(self, name: str) -> str | None:
        """The one symbol of the signature that a misspelt name can stand for."""
        names = [info.symbol.name for info in self.function.symbols if info.in_signature]
        same = [candidate for candidate in names if candidate.lower() == name.lower()]
        close = same or get_close_matches(name, names, cutoff=0.75)
        return close[0] if len(close) == 1 else None

    def shape_label(self, op: AllocTensor | AllocStorage) -> str:
        """The extents of an allocation as a label: ``shape `(n - 17, 4)` ``."""
        extents = op.shape if isinstance(op, AllocTensor) else op.extents
        if isinstance(extents, Unknown):
            return extents.reason
        return f"shape `({', '.join(expr_text(extent) for extent in extents)})`"

    def bytes(self, size: Size) -> str:
        """A size for a message: ``16 bytes``, `` `4*m` bytes``."""
        return quantity(size)

    def elements(self, size: Size) -> str:
        """A number of elements for a message: ``16 elements``."""
        return quantity(size, "elements")

    def argument(self, op: Op, index: int) -> Location | None:
        """Where argument `index` of an operation's call stands."""
        return self._positions.argument(op.place.var, op.place.node, index)
