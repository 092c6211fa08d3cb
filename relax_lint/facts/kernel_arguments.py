"""RLX301, 302 and 303: does every kernel get the arguments that its entry accepts?

Event: a call of a kernel of the module. Claims: what the entry compares holds, for shapes (RLX301) and
for dtypes (RLX302, which follows from the types alone); each tensor starts where the kernel takes it
(RLX303, one event for each tensor at an offset). Verdict: that of the provers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.asking import taken_offset
from relax_lint.facts.claims import Claim, equal, multiple_of
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.kernel_entry import Demand, Requirement
from relax_lint.facts.kernels import KernelFacts, KernelUse
from relax_lint.model.kernels import BufferParameter
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.asked import Asked
from relax_lint.symbolic.decision import Decision, Proof, certain
from relax_lint.symbolic.quantity import Unknown


@record(frozen=True)
class Start:
    """An operand that starts `offset` bytes after its data pointer, and how the kernel handles that."""

    use: KernelUse
    position: int
    offset: sympy.Expr | Unknown
    unit: int | None
    """Bytes of which the offset must be a multiple; None: it must be 0."""


_MOVED = Proof(
    Prover.UNDECIDED,
    "a Hexagon moves the data pointer of a tensor on a storage, so that its alignment decides",
)


class ArgumentFacts:
    """The verdicts on the arguments of the kernel calls of one function."""

    def __init__(
        self, flow: FunctionFlow, judge: Judge, kernels: KernelFacts, *, moved_pointers: bool = False
    ) -> None:
        self._moved_pointers = moved_pointers
        self._offsets = flow.aliases.offsets
        self._judge = judge
        self._kernels = kernels

    # -- RLX301 --------------------------------------------------------------------------------

    def shapes(self) -> Iterator[Decided[KernelUse]]:
        """Every call of a kernel: the shapes are those that its entry accepts."""
        for use in self._kernels.uses:
            decision = self._judge.judge(Claim(use.match.accepted, use.domain, use.match.asked_to_accept))
            yield Decided(use, decision, use.presumptions)

    def first_unmet(self, use: KernelUse) -> Requirement | None:
        """The first comparison that does not always hold."""
        for requirement in use.match.binding.requirements:
            decision = self._judge.judge(Claim(requirement.condition, use.domain))
            if decision.verdict is not Verdict.ALWAYS_FINE:
                return requirement
        return None

    def describe(self, use: KernelUse, requirement: Requirement) -> str:
        """What the kernel refuses, in words."""
        name = self._kernels.name_of(use, requirement.position)
        have, want = requirement.have, requirement.want
        if requirement.demand is Demand.COUNT:
            return f"it receives {have} arguments, the kernel expects {want}"
        if requirement.demand is Demand.KIND:
            return f"{name} is {have}, the kernel expects {want}"
        if requirement.demand is Demand.RANK:
            return f"{name} has rank {have}, the kernel expects rank {want}"
        if requirement.demand is Demand.SHAPE:
            return f"the extents of {name} are unknown"
        return f"extent {requirement.axis} of {name} is `{have}`, the kernel expects `{want}`"

    # -- RLX302 --------------------------------------------------------------------------------

    def dtypes(self) -> Iterator[Decided[KernelUse]]:
        """Every call of a kernel: each tensor has the dtype that its entry compares with."""
        for use in self._kernels.uses:
            decision = certain(Verdict.ALWAYS_FINE, "the dtypes are the same")
            if use.match.dtype_mismatches:
                decision = certain(Verdict.ALWAYS_WRONG, "the dtypes differ")
            yield Decided(use, decision, use.presumptions)

    # -- RLX303 --------------------------------------------------------------------------------

    def starts(self) -> Iterator[Decided[Start]]:
        """Every operand that does not plainly start at its data pointer: the kernel takes it there."""
        for use in self._kernels.uses:
            for start in self._starts(use):
                decision = self._judge.judge(
                    Claim(_is_taken(start), use.domain, partial(_asked, start, self._kernels))
                )
                if (
                    self._moved_pointers
                    and decision.verdict is not Verdict.ALWAYS_FINE
                    and decision.reachable
                ):
                    decision = Decision(Verdict.NEEDS_RUNTIME_CHECK, _MOVED)
                yield Decided(start, decision, use.presumptions)

    def _starts(self, use: KernelUse) -> Iterator[Start]:
        for position, (parameter, operand) in enumerate(
            zip(use.kernel.parameters, use.operands, strict=False)
        ):
            if operand.value is None or not isinstance(parameter, BufferParameter):
                continue
            offset = self._offsets.of(operand.value)
            if offset == 0:
                continue
            unit = parameter.dtype.storage_bytes * parameter.offset_factor if parameter.takes_offset else None
            yield Start(use, position, offset, unit)


def _asked(start: Start, kernels: KernelFacts) -> Asked:
    taken = _is_taken(start)
    assert not isinstance(taken, Unknown)
    assert not isinstance(start.offset, Unknown)
    return taken_offset(kernels.name_of(start.use, start.position), start.offset, taken, start.unit)


def _is_taken(start: Start) -> Boolean | Unknown:
    if isinstance(start.offset, Unknown):
        return start.offset
    zero = sympy.Integer(0)
    return equal(start.offset, zero) if start.unit is None else multiple_of(start.offset, start.unit)
