"""Whether a kernel stores in a tensor what that holds already, as the same constants, or the same of the same
arguments, or an in-place call what it finds. The function is carried out up to there for this, at some sizes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from relax_lint.analysis.events import Overwriting, StaleRead
from relax_lint.analysis.trial_runs import Run, Trials
from relax_lint.analysis.trial_sizes import Sizes
from relax_lint.analysis.trial_tensors import TrialTensor, Unclear
from relax_lint.analysis.trial_values import leaves
from relax_lint.model.operations import KernelCall, Op, ValueId
from relax_lint.vm.calls import CallKind


class SameContents(Trials):
    """Asked of one function."""

    def may_be(self, event: Overwriting) -> bool:
        """Whether a tensor may hold what it should when it is read: the write stores that, or a later one of
        another tensor does.
        """
        return self._stores_it(event) or event.write.place.index < self._restored.get(_reading(event), -1)

    @cached_property
    def _restored(self) -> Mapping[tuple[ValueId, int], int]:
        """The last write over each tensor that stores what should be there, by the tensor and its reading."""
        found = defaultdict[tuple[ValueId, int], list[Overwriting]](list)
        for event in self.flow.overwritings:
            found[_reading(event)].append(event)
        last: dict[tuple[ValueId, int], int] = {}
        for reading, events in found.items():
            latest = sorted(events, key=lambda one: one.write.place.index, reverse=True)
            # The first one restores nothing that another one of them has damaged.
            later = [one for one in latest if one.write is not latest[-1].write]
            same = next((one for one in later if self._stores_it(one)), None)
            if same is not None:
                last[reading] = same.write.place.index
        return last

    def _stores_it(self, event: Overwriting) -> bool:
        """Whether a write was seen to store what was there, with all contents that were tried that take one
        path.
        """
        call, memory = event.write, self.flow.memory
        if not isinstance(call, KernelCall) or call.kind is not CallKind.PRIM_FUNC:
            return False
        if not memory.range(event.written).same_start(memory.range(event.tensor.result)):
            return False
        seen = self.seen(lambda sizes, trial: _UpTo(self, sizes, trial, call, event))
        return True in seen or (None in seen and self._is_repeated(event, call))

    def may_be_as_before(self, event: StaleRead) -> bool:
        """Whether what an in-place call overwrites was seen to be the same when it is read, with all contents
        that were tried that take one path.
        """
        call = event.call
        if not isinstance(call, KernelCall):
            return False
        return True in self.seen(lambda sizes, trial: _Until(self, sizes, trial, call, event))

    def _is_repeated(self, event: Overwriting, call: KernelCall) -> bool:
        """Whether one kernel did the same before, to the same tensor, of any size."""
        kernel = self.flow.effects.kernel_of(call)
        if kernel is None:
            return False
        effect, written = self.flow.effect_of(call), self.flow.aliases.roots_of(event.written)
        at = {position for position in effect.writes if self._takes(call, position) == written}
        return any(
            position in at
            and earlier.place.index < call.place.index
            and kernel is self.flow.effects.kernel_of(earlier)
            and all(self._takes(call, p) == self._takes(earlier, p) for p in effect.reads - effect.writes)
            for earlier, position in self._writers.get(frozenset((event.tensor.result,)), ())
        )

    @cached_property
    def _writers(self) -> Mapping[frozenset[ValueId], Sequence[tuple[KernelCall, int]]]:
        """What writes each tensor, and in which position it is given it."""
        found = defaultdict[frozenset[ValueId], list[tuple[KernelCall, int]]](list)
        for call in self.flow.calls:
            for position in sorted(self.flow.effect_of(call).writes):
                found[self._takes(call, position)].append((call, position))
        return found

    def _takes(self, call: KernelCall, position: int) -> frozenset[ValueId]:
        """What a kernel is given, its result behind the arguments."""
        given = (*call.arguments, call.result)
        return self.flow.aliases.roots_of(given[min(position, len(given) - 1)])


def _reading(event: Overwriting) -> tuple[ValueId, int]:
    """A tensor, and the operation that reads it, -1 at the end of the function."""
    op = event.reading.op
    return event.tensor.result, -1 if op is None else op.place.index


class _UpTo(Run):
    """One up to a call that writes over a tensor."""

    def __init__(
        self, trials: Trials, sizes: Sizes, trial: int, call: KernelCall, event: Overwriting
    ) -> None:
        super().__init__(trials, sizes, trial, call, call.place.index)
        self._event = event

    def _compared(self) -> bool:
        tensor, written = self._of(self._event.tensor.result), self._of(self._event.written)
        if not isinstance(tensor, TrialTensor) or not isinstance(written, TrialTensor):
            raise Unclear
        before = tensor.copied()
        if written.has_dtype_of(tensor):
            # It is the same memory.
            written.take(tensor)
        self._carry_out()
        return before.is_as(written)


class _Until(Run):
    """One through an in-place call up to the operation that reads what it overwrites."""

    def __init__(self, trials: Trials, sizes: Sizes, trial: int, call: KernelCall, event: StaleRead) -> None:
        op = event.reading.op
        super().__init__(trials, sizes, trial, call, -1 if op is None else op.place.index)
        self._event = event
        self._earlier: TrialTensor | None = None

    def _op(self, op: Op) -> None:
        is_asked = op is self._call
        if self._earlier is None and isinstance(op, KernelCall) and (is_asked or op.kind.in_place):
            self._remember(op, is_asked=is_asked)
        if is_asked:
            self._carry_out()
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
            self._earlier = held.copied()

    def _compared(self) -> bool | None:
        read = self._of(self._event.argument)
        if self._earlier is None or not isinstance(read, TrialTensor):
            return None
        return self._earlier.is_as(read)
