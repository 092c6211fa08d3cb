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

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.kernel_operands import Operand
from relax_lint.facts.asking import taken_offset
from relax_lint.facts.claims import Claim, any_empty, equal, multiple_of
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.kernel_entry import Demand, Requirement
from relax_lint.facts.kernel_match import KernelMatch
from relax_lint.facts.kernels import KernelFacts, KernelUse
from relax_lint.model.kernels import BufferParameter
from relax_lint.model.operations import AllocTensor, KernelCall
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.asked import Asked
from relax_lint.symbolic.decision import Decision, Proof, certain
from relax_lint.symbolic.domain import Domain
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.symbolic.quantity import Size, Unknown


@record(frozen=True)
class Start:
    """An operand that starts `offset` bytes after its data pointer, and how the kernel handles that."""

    use: KernelUse
    position: int
    offset: sympy.Expr | Unknown
    unit: int | None
    """Bytes of which the offset must be a multiple; None: it must be what is `wanted`."""
    wanted: Size = sympy.Integer(0)


_ZERO = sympy.Integer(0)
_GAPS = Proof(Prover.UNDECIDED, "a tensor from outside may have any strides")
_NO_DTYPE = Proof(Prover.UNDECIDED, "the dtype of an argument is unknown in the IR")
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
        self._flow = flow
        self._offsets = flow.aliases.offsets
        self._memory = flow.memory
        self._judge = judge
        self._kernels = kernels
        self._fine_shapes: dict[tuple[int, int], tuple[KernelMatch, Domain, Decision]] = {}
        """What is fine in all calls that are alike, by the identities of match and domain, which are kept."""

    # -- RLX301 --------------------------------------------------------------------------------

    def shapes(self) -> Iterator[Decided[KernelUse]]:
        """Every call of a kernel: the shapes are those that its entry accepts."""
        for use in self._kernels.uses:
            match, domain = use.match, use.domain
            fine = self._fine_shapes.get((id(match), id(domain)))
            if fine is not None:
                yield Decided(use, fine[2], use.presumptions)
                continue
            claim = Claim(match.accepted, domain, match.asked_to_accept)
            decision = self._judge.judge(claim)
            if decision.verdict is Verdict.ALWAYS_FINE:
                self._fine_shapes[id(match), id(domain)] = match, domain, decision
            elif match.compared != match.accepted:
                unmet = self.first_unmet(use)
                if unmet is not None and unmet.demand is Demand.STRIDE and self._may_have_gaps(use, unmet):
                    decision = Decision(Verdict.NEEDS_RUNTIME_CHECK, _GAPS)
            only_empty = self._judge.safe_only_if(decision, claim, partial(any_empty, match.types))
            yield Decided(use, decision, use.presumptions, only_empty)

    def _may_have_gaps(self, use: KernelUse, unmet: Requirement) -> bool:
        """Whether an operand may come from outside, with any strides."""
        value = use.operands[unmet.position].value
        roots = () if value is None else self._flow.aliases.roots_of(value)
        made = [self._flow.paths.definitions.get(root) for root in roots]
        return not all(
            isinstance(op, AllocTensor) or (isinstance(op, KernelCall) and op.kind.allocates_result)
            for op in made
        )

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
            given = f"{have} argument" if have == "1" else f"{have} arguments"
            return f"it receives {given}, the kernel expects {want}"
        if requirement.demand is Demand.KIND:
            return f"{name} is {have}, the kernel expects {want}"
        if requirement.demand is Demand.RANK:
            return f"{name} has rank {have}, the kernel expects rank {want}"
        if requirement.demand is Demand.STRIDE:
            return f"stride {requirement.axis} of {name} is `{have}`, the kernel expects `{want}`"
        if requirement.demand is Demand.SHAPE:
            return f"the extents of {name} are unknown"
        return f"extent {requirement.axis} of {name} is `{have}`, the kernel expects `{want}`"

    # -- RLX302 --------------------------------------------------------------------------------

    def dtypes(self) -> Iterator[Decided[KernelUse]]:
        """Every call of a kernel: each tensor has the dtype that its entry compares with, and each number the
        one that TVM does.
        """
        for use in self._kernels.uses:
            decision = certain(Verdict.ALWAYS_FINE, "the dtypes are the same")
            if use.match.unknown_dtype is not None:
                decision = Decision(Verdict.NEEDS_RUNTIME_CHECK, _NO_DTYPE)
            if use.dtype_mismatches:
                decision = certain(Verdict.ALWAYS_WRONG, "the dtypes differ")
            yield Decided(use, decision, use.presumptions)

    # -- RLX303 --------------------------------------------------------------------------------

    def starts(self) -> Iterator[Decided[Start]]:
        """Every operand that does not plainly start at its data pointer: the kernel takes it there."""
        for use in self._kernels.uses:
            for start in self._starts(use):
                decision, only_empty = self._taken(start)
                if self._moved_pointers and decision.verdict is not Verdict.ALWAYS_FINE:
                    decision = Decision(Verdict.NEEDS_RUNTIME_CHECK, _MOVED)
                yield Decided(start, decision, use.presumptions, only_empty)

    def _taken(self, start: Start) -> tuple[Decision, bool]:
        """The verdict on where a tensor starts, and whether only empty ones are safe: without an element none
        is out of line.
        """
        claim = Claim(_is_taken(start), start.use.domain, partial(_asked, start, self._kernels))
        decision = self._judge.judge(claim)
        if decision.verdict is Verdict.ALWAYS_FINE:
            return decision, False
        empty = self._empty(start)
        if isinstance(empty, Unknown):
            why_not = f"it may have no element: {empty.reason}"
            return self._judge.judge_event(claim, Certainty.MAY, why_not), False
        if empty in (None, sympy.false):
            return decision, False
        assert not isinstance(claim.condition, Unknown)
        either = Claim(sympy.Or(claim.condition, empty), claim.domain)
        decided = self._judge.judge(either)
        return decided, self._judge.safe_only_if(decided, either, lambda: empty)

    def _empty(self, start: Start) -> Boolean | Unknown | None:
        """When a tensor that starts beside the unit of a kernel has no element, and its entry accepts it;
        None where it makes no difference.
        """
        value = start.use.operands[start.position].value
        parameter = start.use.kernel.parameters[start.position]
        if start.unit is None or isinstance(start.offset, Unknown):
            return None
        # What the call makes itself starts at 0.
        assert value is not None
        assert isinstance(parameter, BufferParameter)
        empty = self._memory.range(value).empty
        if isinstance(empty, Unknown):
            return empty
        element = FloorDiv(start.offset, sympy.Integer(parameter.dtype.storage_bytes))
        accepted = multiple_of(element, parameter.offset_factor)
        return None if isinstance(accepted, Unknown) else sympy.And(empty, accepted)

    def _starts(self, use: KernelUse) -> Iterator[Start]:
        if use.match.starts_at_zero and all(self._offset(operand) is _ZERO for operand in use.operands):
            return
        given: dict[sympy.Symbol, Size] = {}
        for position, (parameter, operand) in enumerate(
            zip(use.kernel.parameters, use.operands, strict=False)
        ):
            if not isinstance(parameter, BufferParameter):
                continue
            offset = self._offset(operand)
            wanted = _wanted(use, parameter, offset, given)
            if offset == 0 and wanted in (None, 0):
                continue
            if wanted is None:
                yield Start(use, position, offset, parameter.dtype.storage_bytes * parameter.offset_factor)
            else:
                yield Start(use, position, offset, None, wanted)

    def _offset(self, operand: Operand) -> Size:
        """How far behind its data pointer an operand starts."""
        return _ZERO if operand.value is None else self._offsets.of(operand.value)


def _asked(start: Start, kernels: KernelFacts) -> Asked:
    taken = _is_taken(start)
    assert not isinstance(taken, Unknown)
    assert not isinstance(start.offset, Unknown)
    assert not isinstance(start.wanted, Unknown)
    name = kernels.name_of(start.use, start.position)
    return taken_offset(name, start.offset, taken, start.unit, start.wanted)


def _is_taken(start: Start) -> Boolean | Unknown:
    if isinstance(start.offset, Unknown):
        return start.offset
    if isinstance(start.wanted, Unknown):
        return start.wanted
    return equal(start.offset, start.wanted) if start.unit is None else multiple_of(start.offset, start.unit)


def _wanted(
    use: KernelUse, parameter: BufferParameter, offset: Size, given: dict[sympy.Symbol, Size]
) -> Size | None:
    """The one offset in bytes that a kernel takes; None where it takes any. The first buffer with a symbol of
    its own for its start defines the symbol, in elements.
    """
    want, width = parameter.offset, parameter.dtype.storage_bytes
    if want.is_Integer:
        return want * width
    binding = use.match.binding
    if want.is_Symbol and want not in binding.values and want not in binding.unknown and want not in given:
        given[want] = offset if isinstance(offset, Unknown) else FloorDiv(offset, sympy.Integer(width))
        return None
    starts: dict[sympy.Symbol, sympy.Expr] = {}
    for symbol in sorted(want.free_symbols & given.keys(), key=str):
        start = given[symbol]
        if isinstance(start, Unknown):
            return start
        starts[symbol] = start
    bound = binding.expr(want, starts)
    return bound if isinstance(bound, Unknown) else bound * width
