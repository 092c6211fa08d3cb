"""The calls of the module's own kernels: what the rules about kernels judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.kernel_operands import Operand, operands_of
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.claims import any_empty
from relax_lint.facts.judge import Judge
from relax_lint.facts.kernel_match import DTypeMismatch, KernelMatch
from relax_lint.facts.unchecked_types import TypeFacts
from relax_lint.model.kernels import Kernel
from relax_lint.model.operations import KernelCall
from relax_lint.model.types import ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.domain import Domain, Fact
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.calls import CallKind
from relax_lint.vm.facts import FactSource

_LOWERED_LATER = (CallKind.CALL_TIR, CallKind.CALL_TIR_INPLACE)


@dataclass(eq=False)
class _Region:
    """What holds at calls in a row, and the parts of it that kernels let through."""

    domain: Domain
    _entered: dict[Boolean, Domain] = field(default_factory=dict)

    def entered(self, kernel: Kernel, accepted: Boolean | Unknown) -> Domain:
        """What holds after the comparisons at the entry of a kernel."""
        if isinstance(accepted, Unknown) or accepted == sympy.true:
            return self.domain
        known = self._entered.get(accepted)
        if known is None:
            fact = Fact.of(FactSource.KERNEL_ENTRY, accepted, f"compared at the entry of `{kernel.name}`")
            known = self._entered[accepted] = self.domain.with_facts((fact,))
        return known


@record(frozen=True, eq=False)
class KernelUse:
    """One call of a kernel of the module. `presumptions` concern types that are never checked."""

    call: KernelCall
    match: KernelMatch
    operands: tuple[Operand, ...]
    region: _Region
    presumptions: tuple[Presumption, ...] = ()

    @property
    def kernel(self) -> Kernel:
        """The kernel that is called."""
        return self.match.kernel

    @property
    def dtype_mismatches(self) -> tuple[DTypeMismatch, ...]:
        """The operands whose dtype is refused: by the kernel's entry, or, of numbers, by TVM as it lowers
        the call. Of a call that is lowered already their dtypes are guessed.
        """
        numbers = self.match.scalar_mismatches if self.call.kind in _LOWERED_LATER else ()
        return (*self.match.dtype_mismatches, *numbers)

    @property
    def domain(self) -> Domain:
        """What holds at the call."""
        return self.region.domain

    @property
    def entered(self) -> Domain:
        """What holds inside the kernel, for calls that its entry lets through."""
        return self.region.entered(self.kernel, self.match.compared)

    @property
    def empty(self) -> Boolean | None:
        """Some tensor of the call has no element."""
        return any_empty(operand.type for operand in self.operands)


class KernelFacts:
    """The kernel calls of one function."""

    def __init__(self, flow: FunctionFlow, judge: Judge, types: TypeFacts) -> None:
        self._flow = flow
        self._judge = judge
        self._types = types
        self._matches: dict[tuple[str, tuple[ValueType, ...]], KernelMatch] = {}
        self._same: dict[tuple[str, tuple[int, ...]], tuple[tuple[ValueType, ...], KernelMatch]] = {}
        """By the identities of the types, which are kept: to compare them costs more."""

    @cached_property
    def uses(self) -> tuple[KernelUse, ...]:
        """Every call of a kernel of the module."""
        return tuple(self._uses())

    @cached_property
    def matching(self) -> tuple[KernelUse, ...]:
        """Those that give the kernel as many arguments as it has parameters: no other call runs it."""
        return tuple([use for use in self.uses if len(use.operands) == len(use.kernel.parameters)])

    def _uses(self) -> Iterator[KernelUse]:
        region, known = _Region(self._judge.entry), self._types.presumed
        for call in self._flow.calls:
            kernel = self._flow.effects.kernel_of(call)
            if kernel is None:
                continue
            domain = self._judge.domain_at(call.place)
            if domain is not region.domain:
                region = _Region(domain)
            operands = operands_of(call, self._flow.function)
            match = self._match(kernel, tuple([operand.type for operand in operands]))
            presumed = [known[o.value] for o in operands if o.value in known]
            yield KernelUse(call, match, operands, region, tuple(presumed))

    def _match(self, kernel: Kernel, types: tuple[ValueType, ...]) -> KernelMatch:
        same = (kernel.name, tuple(map(id, types)))
        known = self._same.get(same)
        if known is None:
            key = (kernel.name, types)
            if key not in self._matches:
                self._matches[key] = KernelMatch(kernel, types)
            known = self._same[same] = types, self._matches[key]
        return known[1]

    def name_of(self, use: KernelUse, position: int) -> str:
        """An operand for a message: its name in the IR, else what it is."""
        if position >= len(use.operands):
            return "an argument"
        value = use.operands[position].value
        if value is None:
            return f"output `{use.call.place.binding}`"
        name = self._flow.function.values[value].name
        return f"`{name}`" if name else f"argument {position}"
