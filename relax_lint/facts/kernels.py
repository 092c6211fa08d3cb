"""What rules may ask about the kernel calls of one function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.effects import EffectTable, outputs_of
from relax_lint.analysis.offsets import Offsets
from relax_lint.facts.claims import equal, multiple_of
from relax_lint.facts.kernel_calls import Demand, Operand, Requirement, operands_of
from relax_lint.facts.kernel_match import KernelMatch
from relax_lint.facts.placements import Claim
from relax_lint.model.kernels import Access, BufferParameter, Kernel, Lookup
from relax_lint.model.program import (
    CallKind,
    FunctionCall,
    KernelCall,
    MatchCast,
    Op,
    Place,
    Program,
    Unknown,
    ValueId,
)
from relax_lint.model.program import Function as RelaxFunction
from relax_lint.model.types import TensorType, ValueType
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.decision import Decision, certain
from relax_lint.symbolic.domain import Domain, Fact, FactKind

_URGENCY = {Verdict.ALWAYS_WRONG: 0, Verdict.NEEDS_RUNTIME_CHECK: 1, Verdict.ALWAYS_FINE: 2}


@dataclass(frozen=True)
class KernelUse:
    """One call of a kernel of the module. `beliefs` are the types that nothing makes true."""

    call: KernelCall
    match: KernelMatch
    operands: tuple[Operand, ...]
    domain: Domain
    beliefs: tuple[Fact, ...] = ()

    @property
    def kernel(self) -> Kernel:
        """The kernel that is called."""
        return self.match.kernel


@dataclass(frozen=True)
class Start:
    """An operand that starts `offset` bytes behind its data pointer, and what the kernel makes of that."""

    position: int
    offset: sympy.Expr | Unknown
    unit: int | None
    """Bytes of which the offset must be a multiple; None: it must be 0."""
    claim: Claim


class KernelFacts:
    """The kernel calls of one function, and what must hold for each of them."""

    def __init__(
        self,
        program: Program,
        function: RelaxFunction,
        effects: EffectTable,
        domain_at: Callable[[Place], Domain],
        judge: Callable[..., Decision],
    ) -> None:
        self._program = program
        self._function = function
        self._effects = effects
        self._domain_at = domain_at
        self._judge = judge
        self._matches: dict[tuple[str, tuple[ValueType, ...]], KernelMatch] = {}
        self._narrowed: dict[tuple[int, Boolean], Domain] = {}

    @cached_property
    def calls(self) -> tuple[KernelCall, ...]:
        """Every call of a kernel, a packed function or an operator."""
        return tuple(op for op in self._function.body.walk() if isinstance(op, KernelCall))

    @cached_property
    def uses(self) -> tuple[KernelUse, ...]:
        """Every call of a kernel of the module."""
        return tuple(self._uses())

    def _uses(self) -> Iterable[KernelUse]:
        for call in self.calls:
            kernel = self._effects.kernel_of(call)
            if kernel is not None:
                operands = operands_of(call, self._function)
                match = self._match(kernel, tuple([operand.type for operand in operands]))
                beliefs = tuple([self._beliefs[o.value] for o in operands if o.value in self._beliefs])
                yield KernelUse(call, match, operands, self._domain_at(call.place), beliefs)

    def _match(self, kernel: Kernel, types: tuple[ValueType, ...]) -> KernelMatch:
        key = (kernel.name, types)
        match = self._matches.get(key)
        if match is None:
            match = self._matches[key] = KernelMatch(kernel, types)
        return match

    @cached_property
    def _beliefs(self) -> Mapping[ValueId | None, Fact]:
        """The claimed types of tensors, as assumptions."""
        parameters = set(self._function.parameters)
        found: dict[ValueId | None, Fact] = {}
        defined_by = {op.result: op for op in self._function.body.walk()}
        for value in self._function.claimed:
            if isinstance(self._function.type_of(value), TensorType):
                name = self._function.values[value].name
                why = (
                    "a parameter after num_input" if value in parameters else _claimant(defined_by.get(value))
                )
                found[value] = Fact(
                    sympy.true, FactKind.ASSUMED, f"the type of `{name}` ({why}, not checked)"
                )
        return found

    # -- claims --------------------------------------------------------------------------------

    def agreement(self, use: KernelUse) -> Claim:
        """The shapes are those that the kernel takes."""
        return Claim(use.match.accepted, use.domain)

    def first_unmet(self, use: KernelUse) -> Requirement | None:
        """The first comparison that does not always hold."""
        for requirement in use.match.binding.requirements:
            decision = self._judge(Claim(requirement.condition, use.domain))
            if decision.verdict is not Verdict.ALWAYS_FINE:
                return requirement
        return None

    def starts(self, use: KernelUse) -> tuple[Start, ...]:
        """The operands that do not plainly start at their data pointer."""
        found = []
        for position, (parameter, operand) in enumerate(
            zip(use.kernel.parameters, use.operands, strict=False)
        ):
            if operand.value is None or not isinstance(parameter, BufferParameter):
                continue
            offset = self._offsets.of(operand.value)
            if offset == 0:
                continue
            unit = parameter.dtype.storage_bytes * parameter.offset_factor if parameter.takes_offset else None
            condition: Boolean | Unknown = offset if isinstance(offset, Unknown) else sympy.true
            if not isinstance(offset, Unknown):
                condition = equal(offset, sympy.Integer(0)) if unit is None else multiple_of(offset, unit)
            found.append(Start(position, offset, unit, Claim(condition, use.domain)))
        return tuple(found)

    @cached_property
    def _offsets(self) -> Offsets:
        return Offsets(self._function)

    def stays_inside(self, use: KernelUse) -> Claim:
        """The indices of a kernel stay inside its arguments, for calls that its entry lets through."""
        return Claim(use.match.inside, self._entered(use))

    def first_outside(self, use: KernelUse) -> Access:
        """The first access that does not always stay inside; a certain one before a possible one, a store
        before a load.
        """

        def rank(access: Access) -> tuple[int, bool]:
            claim = Claim(use.match.reaches_inside(access), self._entered(use))
            return _URGENCY[self._judge(claim).verdict], not access.writes

        return min(use.kernel.accesses, key=rank)

    def initialises(self, use: KernelUse) -> Claim:
        """The results of reductions are written, for calls that the kernel's entry lets through."""
        return Claim(use.match.initialises, self._entered(use))

    def looked_up(self, use: KernelUse, lookup: Lookup) -> Claim | None:
        """Indices that a constant argument holds lie inside the axis that they index; None where they
        are not constant.
        """
        span = self._span(use, lookup)
        condition = None if span is None else use.match.holds(lookup, span)
        return None if condition is None else Claim(condition, use.domain)

    def needs_an_element_only(self, use: KernelUse, lookup: Lookup) -> bool:
        """Whether constant indices lie inside of every axis that is not empty."""
        claim, condition = self.looked_up(use, lookup), use.match.has_element(lookup)
        if claim is None or condition is None:
            return False
        fact = Fact(condition, FactKind.ENFORCED, "the axis has an element")
        decision = self._judge(Claim(claim.condition, claim.domain.with_facts((fact,))))
        return decision.reachable and decision.verdict is Verdict.ALWAYS_FINE

    def index_span(self, use: KernelUse, lookup: Lookup) -> str:
        """Smallest and largest index that a constant argument holds, for a message."""
        span = self._span(use, lookup)
        return "" if span is None else f"{span[0]} to {span[1]}"

    def _span(self, use: KernelUse, lookup: Lookup) -> tuple[int, int] | None:
        value = use.operands[lookup.indices].value
        return None if value is None else self._function.index_ranges.get(value)

    @cached_property
    def claiming(self) -> tuple[KernelCall, ...]:
        """The packed calls that return tensors whose type nothing makes true."""
        kinds = (CallKind.PACKED, CallKind.BUILTIN, CallKind.CALL_INPLACE_PACKED)
        return tuple(
            call
            for call in self.calls
            if call.kind in kinds and call.result in self._function.claimed and outputs_of(call.type)
        )

    def is_cast(self, call: KernelCall) -> bool:
        """Whether a match_cast checks the result of a call."""
        return call.result in self._cast

    @cached_property
    def _cast(self) -> frozenset[ValueId]:
        return frozenset(op.source for op in self._function.body.walk() if isinstance(op, MatchCast))

    def _entered(self, use: KernelUse) -> Domain:
        condition = use.match.accepted
        if isinstance(condition, Unknown) or condition == sympy.true:
            return use.domain
        key = (id(use.domain), condition)
        domain = self._narrowed.get(key)
        if domain is None:
            fact = Fact(condition, FactKind.ENFORCED, f"compared at the entry of `{use.kernel.name}`")
            domain = self._narrowed[key] = use.domain.with_facts((fact,))
        return domain

    # -- decisions and words -------------------------------------------------------------------

    def decide(self, use: KernelUse, *claims: Claim) -> Decision:
        """The verdict on a call; the claimed types of its operands are assumptions."""
        decision = self._judge(*claims)
        if not use.beliefs:
            return decision
        return replace(decision, assumptions=(*decision.assumptions, *use.beliefs))

    def describe(self, use: KernelUse, requirement: Requirement) -> str:
        """What the kernel refuses, in words."""
        name = self.name_of(use, requirement.position)
        have, want = requirement.have, requirement.want
        if requirement.demand is Demand.COUNT:
            return f"{have} arguments, the kernel takes {want}"
        if requirement.demand is Demand.KIND:
            return f"{name} is {have}, the kernel takes {want}"
        if requirement.demand is Demand.RANK:
            return f"{name} has rank {have}, the kernel takes rank {want}"
        if not have:
            return f"the extents of {name} are not known"
        return f"extent {requirement.axis} of {name} is `{have}`, the kernel takes `{want}`"

    def certain(self, use: KernelUse, verdict: Verdict, reason: str) -> Decision:
        """A verdict that follows from the types alone."""
        decision = certain(verdict, reason)
        return replace(decision, assumptions=use.beliefs) if use.beliefs else decision

    def name_of(self, use: KernelUse, position: int) -> str:
        """An operand for a message: its name in the IR, else what it is."""
        if position >= len(use.operands):
            return "an argument"
        value = use.operands[position].value
        if value is None:
            return f"output `{use.call.place.binding}`"
        name = self._function.values[value].name
        return f"`{name}`" if name else f"argument {position}"


def _claimant(op: Op | None) -> str:
    if isinstance(op, FunctionCall):
        return f"the declared result of `{op.callee}`"
    if isinstance(op, KernelCall):
        return f"as the call of `{op.callee}` claims"
    return "a claimed type"
