"""Whether a kernel stores in a tensor what that holds already, as the same constants, or the same of the same
arguments, or an in-place call what it finds. The function is carried out up to there for this, at some sizes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

from relax_lint.analysis.composed import Spent, Walk, leaves
from relax_lint.analysis.events import Overwriting, StaleRead
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.trial_sizes import Sizes, sizes_to_try
from relax_lint.analysis.trial_tensors import TrialTensor, Unclear, carry_out
from relax_lint.model.operations import If, KernelCall, Op, ValueId
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
        seen = self._seen(lambda sizes, trial: _UpTo(self, self._flow, sizes, trial, event, call))
        return True in seen or (None in seen and self._is_repeated(event, call))

    def may_be_as_before(self, event: StaleRead) -> bool:
        """Whether what an in-place call overwrites was seen to be the same when it is read, with all contents
        that were tried that take one path.
        """
        call = event.call
        if not isinstance(call, KernelCall):
            return False
        return True in self._seen(lambda sizes, trial: _Until(self, self._flow, sizes, trial, event, call))

    def _seen(self, run: Callable[[Sizes, int], _Run]) -> list[bool | None]:
        """What runs tell at each of some sizes; None where that was not found out."""
        return [self._seen_at(partial(run, sizes)) for sizes in sizes_to_try(self._flow.function)]

    def _seen_at(self, run: Callable[[int], _Run]) -> bool | None:
        found: dict[tuple[bool, ...], bool] = {}
        if self.left <= 0:
            return None
        try:
            for trial in range(_MORE_TRIALS):
                one = run(trial)
                same = one.is_the_same()
                if same is not None:
                    found[one.taken] = same and found.get(one.taken, True)
                if trial == _TRIALS - 1 and not one.taken:
                    break
        except (Unclear, Spent):
            return None
        return any(found.values()) if found else None

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


class _Run(Walk):
    """One run of a function up to an operation, or (-1) to its end. `taken` are the branches, True for the
    first of two.
    """

    def __init__(self, same: SameContents, flow: FunctionFlow, sizes: Sizes, trial: int, at: int) -> None:
        super().__init__(same, flow, sizes, trial, at, behind=False)
        self.taken: tuple[bool, ...] = ()

    def is_the_same(self) -> bool | None:
        """Whether a tensor holds what it did; None where this run does not come to it."""
        try:
            self._block(self._function.body)
        except _Arrived:
            return self._compared()
        return self._compared() if self._at < 0 else None

    def _compared(self) -> bool | None:
        raise NotImplementedError

    def _carry_out(self, call: KernelCall) -> None:
        found = self._given(call)
        if found is None:
            raise Unclear
        self._budget.left -= 1 + carry_out(*found)

    def _damage(self, last: ValueId | None) -> None:
        raise _Arrived

    def _branch(self, op: If) -> None:
        condition = self._of(op.condition)
        if isinstance(condition, TrialTensor):
            self.taken += (bool(condition.first),)
        super()._branch(op)


class _UpTo(_Run):
    """One up to a call that writes over a tensor."""

    def __init__(
        self,
        same: SameContents,
        flow: FunctionFlow,
        sizes: Sizes,
        trial: int,
        event: Overwriting,
        call: KernelCall,
    ) -> None:
        super().__init__(same, flow, sizes, trial, call.place.index)
        self._event = event
        self._call = call

    def _compared(self) -> bool:
        tensor, written = self._of(self._event.tensor.result), self._of(self._event.written)
        if not isinstance(tensor, TrialTensor) or not isinstance(written, TrialTensor):
            raise Unclear
        before = tensor.copied()
        if written.has_dtype_of(tensor):
            # It is the same memory.
            written.take(tensor)
        self._carry_out(self._call)
        return before.is_as(written)


class _Until(_Run):
    """One through an in-place call up to the operation that reads what it overwrites."""

    def __init__(
        self,
        same: SameContents,
        flow: FunctionFlow,
        sizes: Sizes,
        trial: int,
        event: StaleRead,
        call: KernelCall,
    ) -> None:
        op = event.reading.op
        super().__init__(same, flow, sizes, trial, -1 if op is None else op.place.index)
        self._event = event
        self._call = call
        self._before: TrialTensor | None = None

    def _op(self, op: Op) -> None:
        is_asked = op is self._call
        if self._before is None and isinstance(op, KernelCall) and (is_asked or op.kind.in_place):
            self._remember(op, is_asked=is_asked)
        if is_asked:
            self._carry_out(self._call)
        else:
            super()._op(op)

    def _remember(self, op: KernelCall, *, is_asked: bool) -> None:
        """What should be read is what its name held before something was stored there in place first."""
        read = self._event.reading.value
        is_known = read in self._held or read in self._function.parameters
        if not is_known and not is_asked:
            return
        held = self._of(read if is_known else self._event.argument)
        if not isinstance(held, TrialTensor):
            raise Unclear
        given = (one for argument in op.arguments for one in leaves(self._of(argument)))
        if is_asked or any(one.both is held.both for one in given):
            self._before = held.copied()

    def _compared(self) -> bool | None:
        read = self._of(self._event.argument)
        if self._before is None or not isinstance(read, TrialTensor):
            return None
        return self._before.is_as(read)
