"""Whether a kernel writes over a tensor what it holds already, as the same constants, or the same of the same
arguments. The function is carried out up to there for this, as far as its tensors are small.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from relax_lint.analysis.composed import Spent, Walk
from relax_lint.analysis.events import Overwriting
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.small_tensors import Small, Unclear, carry_out
from relax_lint.model.operations import If, KernelCall, ValueId
from relax_lint.vm.calls import CallKind

_TRIALS = 3
"""So many contents of what comes from outside are tried."""
_MORE_TRIALS = 8
"""The same where there are branches."""
_MOST_STEPS = 20_000
"""After so many steps of kernels in one function, all writes together, it is not carried out any more."""


class SameContents:
    """Asked of one function."""

    def __init__(self, flow: FunctionFlow) -> None:
        self._flow = flow
        self.left = _MOST_STEPS
        """The steps that are left."""

    def may_be(self, event: Overwriting) -> bool:
        """Whether a tensor may hold what it should when it is read: the write stores that, or a later one of
        another tensor does.
        """
        return self._stores_it(event) or event.write.place.index < self._restored.get(_reading(event), -1)

    @cached_property
    def _restored(self) -> Mapping[tuple[ValueId, int], int]:
        """The last write over each tensor that stores what should be there, by the tensor and its reading."""
        found = defaultdict[tuple[ValueId, int], list[Overwriting]](list)
        for event in self._flow.overwritings:
            found[_reading(event)].append(event)
        last: dict[tuple[ValueId, int], int] = {}
        for reading, events in found.items():
            latest = sorted(events, key=lambda one: one.write.place.index, reverse=True)
            # The first one restores nothing that another one of them has damaged.
            same = next((one for one in latest[:-1] if self._stores_it(one)), None)
            if same is not None:
                last[reading] = same.write.place.index
        return last

    def _stores_it(self, event: Overwriting) -> bool:
        """Whether a write was seen to store what was there, with all contents that were tried that take one
        path.
        """
        call, memory = event.write, self._flow.memory
        if not isinstance(call, KernelCall) or call.kind is not CallKind.PRIM_FUNC:
            return False
        if not memory.range(event.written).same_start(memory.range(event.tensor.result)):
            return False
        if self.left <= 0:
            return self._is_repeated(event, call)
        found: dict[tuple[bool, ...], bool] = {}
        try:
            for trial in range(_MORE_TRIALS):
                walk = _UpTo(self, self._flow, trial, call)
                same = walk.writes_the_same(event)
                if same is not None:
                    found[walk.taken] = same and found.get(walk.taken, True)
                if trial == _TRIALS - 1 and not walk.taken:
                    break
        except (Unclear, Spent):
            # Of other sizes, or with more to do.
            return self._is_repeated(event, call)
        return any(found.values()) or (not found and self._is_repeated(event, call))

    def _is_repeated(self, event: Overwriting, call: KernelCall) -> bool:
        """Whether one kernel did the same before, to the same tensor, of any size."""
        kernel = self._flow.effects.kernel_of(call)
        if kernel is None:
            return False
        effect, written = self._flow.effect_of(call), self._flow.aliases.roots_of(event.written)
        at = {position for position in effect.writes if self._takes(call, position) == written}
        return any(
            position in at
            and earlier.place.index < call.place.index
            and kernel is self._flow.effects.kernel_of(earlier)
            and all(self._takes(call, p) == self._takes(earlier, p) for p in effect.reads - effect.writes)
            for earlier, position in self._writers.get(frozenset((event.tensor.result,)), ())
        )

    @cached_property
    def _writers(self) -> Mapping[frozenset[ValueId], Sequence[tuple[KernelCall, int]]]:
        """What writes each tensor, and in which position it is given it."""
        found = defaultdict[frozenset[ValueId], list[tuple[KernelCall, int]]](list)
        for call in self._flow.calls:
            for position in sorted(self._flow.effect_of(call).writes):
                found[self._takes(call, position)].append((call, position))
        return found

    def _takes(self, call: KernelCall, position: int) -> frozenset[ValueId]:
        """What a kernel is given, its result behind the arguments."""
        given = (*call.arguments, call.result)
        return self._flow.aliases.roots_of(given[min(position, len(given) - 1)])


def _reading(event: Overwriting) -> tuple[ValueId, int]:
    """A tensor, and the operation that reads it, -1 at the end of the function."""
    op = event.reading.op
    return event.tensor.result, -1 if op is None else op.place.index


class _Arrived(Exception):
    """The call comes next."""


class _UpTo(Walk):
    """One run of a function up to a call. `taken` are the branches, True for the first of two."""

    def __init__(self, same: SameContents, flow: FunctionFlow, trial: int, call: KernelCall) -> None:
        super().__init__(same, flow, trial, call.place.index, behind=False)
        self._call = call
        self.taken: tuple[bool, ...] = ()

    def writes_the_same(self, event: Overwriting) -> bool | None:
        """Whether the call leaves a tensor as it is; None where this run does not come to it."""
        try:
            self._block(self._function.body)
        except _Arrived:
            return self._leaves_as_it_is(event)
        return None

    def _leaves_as_it_is(self, event: Overwriting) -> bool:
        tensor, written = self._of(event.tensor.result), self._of(event.written)
        found = self._given(self._call)
        if found is None or not isinstance(tensor, Small) or not isinstance(written, Small):
            raise Unclear
        before = tensor.copied()
        if written.has_dtype_of(tensor):
            # It is the same memory.
            written.take(tensor)
        self._budget.left -= 1 + carry_out(*found)
        return before.is_as(written)

    def _damage(self, last: ValueId | None) -> None:
        raise _Arrived

    def _branch(self, op: If) -> None:
        condition = self._of(op.condition)
        if isinstance(condition, Small):
            self.taken += (bool(condition.first),)
        super()._branch(op)
