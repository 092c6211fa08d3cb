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
from relax_lint.analysis.liveness import operands
from relax_lint.facts.judge import Decided, Judge
from relax_lint.model.operations import AllocStorage, AllocTensor, If, Kill, ValueId
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Size

Allocation: TypeAlias = AllocStorage | AllocTensor


@record(frozen=True)
class KeptAllocation:
    """An allocation that is not killed before its function returns, on every path or on some."""

    allocation: Allocation
    certainty: Certainty

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
    for op in flow.operations:
        if isinstance(op, Kill):
            kills[flow.aliases.register(op.target)].append(op)
    for allocation in _allocations(flow) if kills else ():
        ends = kills.get(allocation.result, [])
        killed = any(flow.paths.always_with(kill, allocation) for kill in ends)
        if allocation.result not in flow.returned and not killed:
            kept = KeptAllocation(allocation, must_if(not ends))
            yield Decided(kept, judge.harm(allocation, kept.certainty, "killed only on some paths"))


def unused_allocations(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[UnusedAllocation]]:
    """The allocations that are never used."""
    function = flow.function
    used = {value for op in flow.operations for value in operands(op, function)} | flow.used_inside
    results = [function.result]
    for op in flow.operations:
        if isinstance(op, If):
            results += [op.then_result, op.else_result]
    while results:
        used.add(value := results.pop())
        results += function.inline_tuples.get(value, ())
    for allocation in _allocations(flow):
        if allocation.result not in used:
            yield Decided(UnusedAllocation(allocation), judge.harm(allocation, Certainty.MUST))


def _allocations(flow: FunctionFlow) -> Iterator[Allocation]:
    return (op for op in flow.operations if isinstance(op, AllocStorage | AllocTensor))
