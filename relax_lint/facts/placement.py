"""RLX101 to RLX105: does every tensor fit inside its storage?

Event: an allocation, a tensor on a storage, or a byte view. Claims, one for each rule, each over the
values for which the other claims hold:

- RLX101: offset + bytes <= capacity of the storage, under the strictest configured allocator;
- RLX102: offset >= 0;
- RLX103: the 64-bit arithmetic of the runtime computes the size without overflow;
- RLX104: no extent is negative;
- RLX105: offset + bytes <= declared size, wherever the pooled allocator does not refuse.

Verdict: that of the provers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeAlias, TypeVar

import sympy

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.asking import signs
from relax_lint.facts.claims import Claim
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.on_storage import Alike
from relax_lint.facts.on_storage import Placement as Placement
from relax_lint.facts.size_arithmetic import computed_extents, no_overflow
from relax_lint.model.arguments import BYTE
from relax_lint.model.operations import AllocStorage, AllocTensor, Op, ValueId, View
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.settings.config import Config
from relax_lint.symbolic.decision import Decision, FailureStatus, FirstFailure, Proof
from relax_lint.symbolic.domain import INT64_MAX, Fact
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.symbolic.relations import at_least_zero, none_negative
from relax_lint.vm.allocators import Allocator
from relax_lint.vm.builtins import ViewKind
from relax_lint.vm.facts import FactSource
from relax_lint.vm.scopes import HOST_TARGETS, counts_bytes, unknown_room

_UP_TO_CALLERS = Proof(
    Prover.UNDECIDED, "the storage is a parameter, and the calls decide which values come with it"
)

_ZERO = sympy.Integer(0)

Allocation: TypeAlias = AllocStorage | AllocTensor
AnyOp = TypeVar("AnyOp", bound=Op)


class PlacementFacts:
    """The allocations and views of one function, and the verdicts on their positions."""

    def __init__(self, flow: FunctionFlow, judge: Judge, config: Config) -> None:
        self._flow = flow
        self._judge = judge
        self._config = config
        self._decided: defaultdict[Hashable, dict[str, Decision]] = defaultdict(dict)
        """By what tensors have in common, the answers by the name of the claim."""
        self._decided_of: dict[ValueId, dict[str, Decision]] = {}
        """The same by tensor: four things are asked of each."""

    # -- events --------------------------------------------------------------------------------

    @cached_property
    def storages(self) -> tuple[AllocStorage, ...]:
        """Every alloc_storage."""
        return self._flow.function.body.of(AllocStorage)

    @cached_property
    def tensors(self) -> tuple[AllocTensor, ...]:
        """Every alloc_tensor, also those without a storage of their own yet."""
        return self._flow.function.body.of(AllocTensor)

    @cached_property
    def allocations(self) -> tuple[Allocation, ...]:
        """Every alloc_storage, then every alloc_tensor."""
        return (*self.storages, *self.tensors)

    @cached_property
    def placements(self) -> tuple[Placement, ...]:
        """Every tensor that was put on a storage."""
        return tuple(self._placed(tensor) for tensor in self.tensors if tensor.storage is not None)

    def _placed(self, tensor: AllocTensor) -> Placement:
        assert tensor.storage is not None
        storages, domain = self._flow.storages_of(tensor.storage), self._judge.domain_at(tensor.place)
        # Equal ones are nearly always one object, and live as long as the function.
        key = tensor.storage, id(tensor.offset), id(tensor.bytes), id(tensor.shape), id(domain)
        return Placement(tensor, storages, domain, self._config.page_size, self._alike[key])

    @cached_property
    def _alike(self) -> defaultdict[Hashable, Alike]:
        """By storage, and the identities of offset, bytes, shape and what holds there."""
        return defaultdict(Alike)

    @cached_property
    def _byte_views(self) -> tuple[View, ...]:
        """Every `R.memory.view`: the views that may start at an offset."""
        return tuple(view for view in self._flow.function.body.of(View) if view.kind is ViewKind.MEMORY_VIEW)

    # -- claims --------------------------------------------------------------------------------

    def _starts_inside(self, op: AllocTensor | View) -> Claim:
        """offset >= 0."""
        start = self.start_of(op)
        condition = start if isinstance(start, Unknown) else at_least_zero(start)
        return self._judge.claim_at(condition, op, partial(signs, "offset", op, (start,)))

    def start_of(self, op: AllocTensor | View) -> Size:
        """At which byte a tensor or a view starts. A view that starts before its source may still start
        inside the memory behind that; where the source itself starts is judged with the source.
        """
        if isinstance(op, AllocTensor) or isinstance(op.offset, Unknown) or op.offset.is_nonnegative:
            return op.offset
        base = self._flow.aliases.offsets.of(op.source)
        return base if isinstance(base, Unknown) else base + op.offset

    def _no_negative_extent(self, op: Allocation) -> Claim:
        """No extent of a tensor, or of a storage's size, is negative."""
        extents = op.shape if isinstance(op, AllocTensor) else op.extents
        if isinstance(extents, Unknown):
            return self._judge.claim_at(extents, op)
        return self._judge.claim_at(none_negative(extents), op, partial(signs, "extents", op, extents))

    def _no_overflow(self, op: Allocation) -> Claim:
        """The runtime's byte arithmetic for the operation does not wrap around."""
        domain = self._judge.domain_at(op.place)
        limit = self._config.max_extent
        if isinstance(op, AllocTensor):
            return no_overflow(op.shape, op.dtype, op.offset, domain, max_extent=limit)
        # The size of `R.memory.alloc_storage` is in bytes, whatever its dtype says.
        unit = BYTE if op.size_in_bytes else op.dtype
        return no_overflow(op.extents, unit, sympy.Integer(0), domain, max_extent=limit)

    def _extents_fit(self, op: Allocation) -> Claim:
        """Every extent that is computed from values that anybody may give is an int64."""
        extents = op.shape if isinstance(op, AllocTensor) else op.extents
        domain = self._judge.domain_at(op.place)
        if isinstance(extents, Unknown):
            return Claim(extents, domain)
        computed = computed_extents(extents, domain.free)
        if len(extents) < 2 or not computed:
            return Claim(sympy.true, domain)
        condition = sympy.And(*(sympy.Le(extent, INT64_MAX) for extent in computed))
        return self._judge.claim_at(condition, op)

    def decisions(self) -> Iterator[tuple[Op, Decision]]:
        """The verdict on every claim that bounds memory, with its operation."""
        for placement in self.placements:
            yield placement.tensor, self._fits_by_size(placement)
            yield placement.tensor, self._decision(placement.tensor, self._starts_inside)
        for op in self.allocations:
            yield op, self._decision(op, self._no_negative_extent)
            yield op, self._computed(op)

    # -- verdicts ------------------------------------------------------------------------------

    def fits(self) -> Iterator[Decided[Placement]]:
        """Every tensor on a storage: offset + bytes <= capacity."""
        naive = Allocator.NAIVE.value in self._config.allocators
        allocator = Allocator.NAIVE if naive else Allocator.POOLED
        for placement in self.placements:
            known = placement.alike.decided
            if known is None:
                known = self._fitting(placement, allocator)
                # A record of the claim names the tensor.
                placement.alike.decided = None if self._judge.keeps_claims else known
            yield Decided(placement, *known)

    def _fitting(
        self, placement: Placement, allocator: Allocator
    ) -> tuple[Decision, tuple[Presumption, ...], bool]:
        """The verdict, what it relies on, and whether only empty tensors fit: the same for all alike."""
        claims = placement.fits(allocator)
        decision = self._in_scope(self._judge.judge(*claims), placement)
        only_empty = all(
            self._judge.safe_only_if(decision, claim, lambda: placement.empty) for claim in claims
        )
        if decision.verdict is Verdict.NEEDS_RUNTIME_CHECK and self._is_passed_in(placement):
            # With which values the function is called is up to those who pass the storage.
            in_calls = self._judge.in_each_call(claims, self._flow.calls_of_this)
            decision, only_empty = in_calls or Decision(decision.verdict, _UP_TO_CALLERS), False
        return decision, self._presumed(placement), only_empty

    def _in_scope(self, decision: Decision, placement: Placement) -> Decision:
        """What the sum of bytes says, where storages of the scope are plain bytes. Of what has a layout of
        its own only that is certain which the virtual machine itself refuses.
        """
        reason = self.unknown_room(placement)
        if reason is None or not decision.reachable:
            return decision
        storages = () if isinstance(placement.storages, Unknown) else placement.storages
        refused = all(counts_bytes(storage.scope) for storage in storages)
        if refused and decision.verdict is Verdict.ALWAYS_WRONG:
            return decision
        return Decision(Verdict.NEEDS_RUNTIME_CHECK, Proof(Prover.UNDECIDED, reason))

    def unknown_room(self, placement: Placement) -> str | None:
        """Why it is not known what the storage of a tensor holds; None where it is."""
        if isinstance(placement.storages, Unknown):
            return None
        for storage in placement.storages:
            axes = None if isinstance(storage.extents, Unknown) else len(storage.extents)
            reason = unknown_room(storage.scope, axes)
            if reason is not None and not self._is_on_host(storage):
                return reason
        return None

    def _is_on_host(self, storage: AllocStorage) -> bool:
        """Whether a target is named and is the host, which has no such scopes at all."""
        declared = self._flow.program.declared_devices
        if declared:
            at = storage.device or 0
            return 0 <= at < len(declared) and declared[at].target in HOST_TARGETS
        return self._config.target is not None and self._config.target.split()[0] in HOST_TARGETS

    def _presumed(self, placement: Placement) -> tuple[Presumption, ...]:
        """That nobody else calls a function whose storage is a parameter."""
        if not self._is_passed_in(placement) or self._flow.knows_callers:
            return ()
        value, function = placement.tensor.storage, self._flow.function
        assert value is not None
        name = function.values[value].name
        return (Presumption(f"`{name}` is what the calls of `{function.name}` in this module pass"),)

    def _is_passed_in(self, placement: Placement) -> bool:
        value = placement.tensor.storage
        assert value is not None
        return not isinstance(placement.storages, Unknown) and self._flow.is_passed_in(value)

    def first_failures(self, placement: Placement) -> Mapping[str, FirstFailure]:
        """For each configured allocator the smallest assignment at which it refuses the tensor,
        with declared bounds dropped.
        """
        known = placement.alike.failures
        if known is None:
            known = placement.alike.failures = self._first_failures(placement)
        return known

    def _first_failures(self, placement: Placement) -> Mapping[str, FirstFailure]:
        if self.unknown_room(placement) is not None:
            return dict.fromkeys(self._config.allocators, FirstFailure(FailureStatus.UNKNOWN))
        fits = {name: placement.fits(Allocator(name)) for name in self._config.allocators}
        return {name: self._judge.first_failure(claims) for name, claims in fits.items()}

    def starts(self) -> Iterator[Decided[AllocTensor | View]]:
        """Every tensor on a storage, and every byte view: offset >= 0."""
        tensors = (placement.tensor for placement in self.placements)
        return self._each((*tensors, *self._byte_views), self._starts_inside)

    def sizes(self) -> Iterator[Decided[Allocation]]:
        """Every allocation: the runtime's byte arithmetic does not wrap around."""
        return (Decided(op, self._computed(op)) for op in self.allocations)

    def _computed(self, op: Allocation) -> Decision:
        """The verdict on the arithmetic. Where the size is computed right, each extent is as well, unless
        there are no elements, which would tell: that is asked apart, to keep what is usual short.
        """
        decision = self._decision(op, self._no_overflow)
        if decision.verdict is not Verdict.ALWAYS_FINE or not decision.reachable:
            return decision
        extents = self._decision(op, self._extents_fit)
        return decision if extents.wrong is None else extents

    def extents(self) -> Iterator[Decided[Allocation]]:
        """Every allocation: no extent and no size is negative."""
        return self._each(self.allocations, self._no_negative_extent)

    def _each(self, ops: Sequence[AnyOp], claim: Callable[[AnyOp], Claim]) -> Iterator[Decided[AnyOp]]:
        return (Decided(op, self._decision(op, claim)) for op in ops)

    def _decision(self, op: AnyOp, claim: Callable[[AnyOp], Claim]) -> Decision:
        """The verdict on a claim, the same for all tensors alike; a record of it names the tensor."""
        decided = self._decided_of.get(op.result)
        if decided is None:
            if not isinstance(op, AllocTensor) or self._judge.keeps_claims:
                return self._judge.judge(claim(op))
            # All that is asked of a tensor is about these, and they live as long as the function.
            key = id(op.shape), op.dtype.name, id(op.offset), id(self._judge.domain_at(op.place))
            decided = self._decided_of[op.result] = self._decided[key]
        known = decided.get(claim.__name__)
        if known is None:
            known = decided[claim.__name__] = self._judge.judge(claim(op))
        return known

    def _fits_by_size(self, placement: Placement) -> Decision:
        """The verdict on what `fits` asks of the declared size."""
        known = placement.alike.by_size
        if known is None:
            known = placement.alike.by_size = self._judge.judge(*placement.fits())
        return known

    def within_declared_sizes(self) -> Iterator[Decided[Placement]]:
        """Where only the pooled allocator is used: every tensor stays inside the declared size."""
        if tuple(self._config.allocators) == (Allocator.POOLED.value,):
            for placement in self.placements:
                yield Decided(placement, self._judge.judge(*_within_declared(placement)))


def _within_declared(placement: Placement) -> Iterator[Claim]:
    for declared, pooled in zip(placement.fits(), placement.fits(Allocator.POOLED), strict=True):
        domain = declared.domain
        if not isinstance(pooled.condition, Unknown):
            fact = Fact.of(FactSource.WITHIN_PAGES, pooled.condition, "within the pages of the storage")
            domain = domain.with_facts((fact,))
        yield Claim(declared.condition, domain, declared.asked)
