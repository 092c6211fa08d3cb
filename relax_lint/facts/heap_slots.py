"""RLX106 and RLX205: is every slot of a shape heap inside the heap, and written before it is read?

Event: an operation that uses slots of a shape heap: a builtin of a lowered module, or a PrimFunc that is
given the heap. Claims: 0 <= slot < number of slots, for each of them (RLX106). Whether a slot was written
(RLX205) follows from the order of operations; no symbol is asked about.

Verdict: that of the provers; for RLX205 `always-wrong` where no path writes the slot, never where some do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.given_heaps import accesses_in
from relax_lint.facts.claims import all_of
from relax_lint.facts.judge import Decided, Judge
from relax_lint.model.heap_contents import SlotAccess, Written
from relax_lint.model.operations import Op
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.asked import Asked, Compared, Statement, every
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.relations import at_least_zero, at_most


@record(frozen=True)
class SlotUse:
    """The slots that one operation uses, and of them the first that may break the claim, if there is one."""

    op: Op
    accesses: tuple[SlotAccess, ...]
    doubtful: SlotAccess | None


class HeapSlotFacts:
    """The uses of shape heaps in one function, and the verdicts on them."""

    def __init__(self, flow: FunctionFlow, judge: Judge) -> None:
        self._judge = judge
        self._operations = {op.place.index: op for op in flow.operations}
        self._accesses = tuple(accesses_in(flow.function, flow.program, flow.callees))

    def inside(self) -> Iterator[Decided[SlotUse]]:
        """Every operation that uses slots: the heap has them."""
        for op, accesses in self._by_operation():
            conditions = [_is_inside(access) for access in accesses]
            doubtful = [a for a, c in zip(accesses, conditions, strict=True) if c != sympy.true]
            asked = partial(_asked, accesses)
            decision = self._judge.judge(self._judge.claim_at(all_of(conditions), op, asked))
            yield Decided(SlotUse(op, accesses, next(iter(doubtful), None)), decision)

    def written(self) -> Iterator[Decided[SlotUse]]:
        """Every operation that reads slots: they were written before."""
        for op, accesses in self._by_operation():
            # What the heap does not have is RLX106's.
            inside = [access for access in accesses if _is_inside(access) != sympy.false]
            reads = tuple(access for access in inside if not access.writes)
            if not reads:
                continue
            worst = min(reads, key=lambda access: _BY_DOUBT.index(access.written))
            if worst.written is Written.ALWAYS:
                decision = self._judge.judge(self._judge.claim_at(sympy.true, op))
                yield Decided(SlotUse(op, reads, None), decision)
                continue
            certainty = Certainty.MUST if worst.written is Written.NEVER else Certainty.MAY
            decision = self._judge.harm(op, certainty, "written only on some paths")
            if decision.reachable:
                yield Decided(SlotUse(op, reads, worst), decision)

    def _by_operation(self) -> Iterator[tuple[Op, tuple[SlotAccess, ...]]]:
        for index, accesses in groupby(self._accesses, key=lambda access: access.op.index):
            yield self._operations[index], tuple(accesses)


_BY_DOUBT = (Written.NEVER, Written.PERHAPS, Written.ALWAYS)


def _asked(accesses: Sequence[SlotAccess]) -> Asked:
    parts: list[Statement] = []
    names = {}
    for access in accesses:
        if isinstance(access.slot, Unknown) or isinstance(access.slots, Unknown):
            continue
        parts.append(Compared((access.slot,), ">=", (sympy.Integer(0),)))
        parts.append(Compared((access.slot, sympy.Integer(1)), "<=", (access.slots,)))
        names[f"slots of `{access.heap}`"] = access.slots
    return Asked(every(parts), names)


def _is_inside(access: SlotAccess) -> Boolean | Unknown:
    if isinstance(access.slot, Unknown):
        return access.slot
    if isinstance(access.slots, Unknown):
        return access.slots
    return sympy.And(at_least_zero(access.slot), at_most(access.slot + 1, access.slots))
