"""RLX207 and RLX208: is every allocation used, and let go again?

Event: an allocation that nothing uses; or, in a function that kills, one that no kill names and that is not
returned. There is no claim. Verdict: `always-wrong` where that is so on every path.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from relax_lint.analysis.certainty import Certainty, must_if
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.liveness import values_read
from relax_lint.facts.judge import Decided, Judge
from relax_lint.model.operations import AllocStorage, AllocTensor, Kill, ValueId
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Size

Allocation: TypeAlias = AllocStorage | AllocTensor


@record(frozen=True)
class KeptAllocation:
    """An allocation that is not killed before its function returns, on every path or on some. `outlives` says
    why it may be needed even longer.
    """

    allocation: Allocation
    certainty: Certainty
    outlives: str = ""

    @property
    def is_certain(self) -> bool:
        """Whether no kill names it at all."""
        return self.certainty is Certainty.MUST


@record(frozen=True)
class UnusedAllocation:
    """An allocation that is never used."""

    allocation: Allocation

    @property
    def on_storage(self) -> bool:
        """Whether it takes no memory of its own."""
        return isinstance(self.allocation, AllocTensor) and self.allocation.storage is not None

    @property
    def size(self) -> Size:
        """The bytes that it takes."""
        op = self.allocation
        return op.bytes if isinstance(op, AllocTensor) else op.size


def never_killed(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[KeptAllocation]]:
    """The allocations of a function that kills explicitly which are neither killed on every path nor
    returned.
    """
    kills: dict[ValueId, list[Kill]] = defaultdict(list)
    for op in flow.function.body.of(Kill):
        kills[flow.aliases.register(op.target)].append(op)
    for allocation in _allocations(flow) if kills else ():
        ends = kills.get(allocation.result, [])
        killed = flow.paths.one_always_with(ends, allocation)
        if allocation.result not in flow.returned and not killed:
            outlives = "" if ends else _may_outlive(allocation.result, flow)
            kept = KeptAllocation(allocation, must_if(not ends and not outlives), outlives)
            why_not = outlives or "killed only on some paths"
            yield Decided(kept, judge.harm(allocation, kept.certainty, why_not))


def _may_outlive(value: ValueId, flow: FunctionFlow) -> str:
    """Why a value may be needed after the function has returned; empty where it is not."""
    if value in flow.used_inside:
        return "a function inside may use it later"
    roots = flow.aliases.roots
    for root in sorted(flow.returned):
        if any(other == value for other, _ in roots.perhaps_of(root)):
            return "what is returned may hold it"
    return ""


def unused_allocations(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[UnusedAllocation]]:
    """The allocations that are never used."""
    function = flow.function
    used = values_read(function) | flow.used_inside
    for allocation in _allocations(flow):
        if allocation.result not in used:
            yield Decided(UnusedAllocation(allocation), judge.harm(allocation, Certainty.MUST))


def _allocations(flow: FunctionFlow) -> tuple[Allocation, ...]:
    return flow.function.body.of(AllocStorage, AllocTensor)
