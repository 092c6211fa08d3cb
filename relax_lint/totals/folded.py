"""What is allocated and let go on every path through a function. What calls do that are alike is found once:
of functions that each call the one below twice, none is followed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, TypeVar

import sympy

from relax_lint.model.operations import FunctionCall, KernelCall, ValueId
from relax_lint.model.program import Function
from relax_lint.support.lazy_dataclass import record
from relax_lint.totals.activation import Activation, Arguments, Overwrites, Translation
from relax_lint.totals.frame import Frame, Reference
from relax_lint.totals.inlined import paths_of, repeats_itself
from relax_lint.totals.paths import every_path
from relax_lint.totals.places import Memory, Place, Register
from relax_lint.totals.plans import Plans
from relax_lint.totals.quantities import CallsItself, Indeterminate, Scope
from relax_lint.totals.walk import Events, ExecMode, Inventory
from relax_lint.totals.walker import Walker

T = TypeVar("T")
_NOT_YET: Any = object()
"""In place of what was returned last, until something is returned in an activation."""


MAX_DEPTH = 16
"""Calls inside of each other that are recorded at a time."""


def events_of(
    plans: Plans,
    function: Function,
    inventory: Inventory,
    binding: Mapping[sympy.Symbol, int] | None = None,
    exec_mode: ExecMode = ExecMode.BYTECODE,
    calls: int = 1,
) -> list[Events]:
    """The events of every path, with the arguments of `paths_of`. Raises Indeterminate."""
    if plans.calls_none(function):
        if calls == 2 and repeats_itself(function, inventory, exec_mode):
            return [walk.twice() for walk in paths_of(plans, function, inventory, binding, exec_mode)]
        # There is nothing to fold.
        return list(paths_of(plans, function, inventory, binding, exec_mode, calls))

    def follow(decisions: tuple[bool, ...], room: int) -> tuple[Events, tuple[bool, ...]]:
        walker = FoldedWalker(plans, inventory, exec_mode, decisions, room)
        return walker.run(function, binding, calls), tuple(walker.taken)

    return every_path(lambda decisions, room: _complete(lambda: follow(decisions, room)))


def _complete(follow: Callable[[], T]) -> T:
    """What is found by following, after the calls that are too many levels down."""
    waiting: list[Call] = []
    while True:
        try:
            if not waiting:
                return follow()
            with suppress(_Decides):
                waiting[-1].record(0)
            waiting.pop()
        except _TooDeep as first:
            waiting.append(first.call)


class _Decides(Exception):
    """An activation is like no other, as a branch in it depends on who calls. With `always` this is so of the
    activations around it, too.
    """

    def __init__(self, *, always: bool) -> None:
        self.always = always


class _TooDeep(Exception):
    """A call has to be recorded before those that it is inside of."""

    def __init__(self, call: Call) -> None:
        self.call = call


@record(frozen=True)
class Call:
    """A call of a function, while others are `active`. `decided` are the decisions about its arguments."""

    plans: Plans
    inventory: Inventory
    exec_mode: ExecMode
    active: tuple[str, ...]
    callee: Function
    scope: Scope
    arguments: Arguments
    decided: tuple[bool | None, ...]

    @cached_property
    def key(self) -> tuple[Hashable, ...]:
        """The same for all calls that are alike."""
        what = self.callee.name, self.inventory, self.exec_mode
        return (*what, self.scope.values, self.arguments.pattern, self.decided)

    def record(self, depth: int) -> None:
        """Find out what such calls do. Raises _Decides, and CallsItself where a function is called that was
        active before.
        """
        known = self.plans.activations
        recorder = _Recorder(self.plans, self.inventory, self.exec_mode, self.active, depth)
        try:
            known[self.key] = recorder.record(self)
        except CallsItself as reason:
            if reason.position < len(self.active):
                raise
            known[self.key] = reason
        except Indeterminate as reason:
            known[self.key] = reason
        except _Decides:
            known[self.key] = None
            raise


class FoldedWalker(Walker):
    """Notes what is allocated and let go."""

    def __init__(
        self,
        plans: Plans,
        inventory: Inventory,
        exec_mode: ExecMode,
        decisions: tuple[bool, ...] = (),
        room: int = 0,
    ) -> None:
        super().__init__(plans, inventory, exec_mode, decisions, room)
        self._exec_mode = exec_mode
        self._depth = 0
        self._stretches: list[Events] = []
        self._begin_stretch()

    def run(self, function: Function, binding: Mapping[sympy.Symbol, int] | None, calls: int = 1) -> Events:
        """The events of one call or several."""
        self._run(function, binding, calls)
        self._stretches[0].chosen = tuple(self.chosen.items())
        return self._stretches[0]

    def _begin_stretch(self) -> None:
        self._stretches.append(Events(allocations=self._allocations))
        self._events = self._stretches[-1].events

    def _happens(self, event: int) -> None:
        self._events.append(event)

    def _let_go(self, result: Reference) -> None:
        if self._keeps_result:
            self._let_go_of_last()
            self._returned = result
        else:
            self._count(result, -1)

    def _let_go_of_last(self) -> None:
        """What was returned last: something else is now."""
        self._count(self._returned, -1)

    def _enter(self, frame: Frame, op: FunctionCall, callee: Function, scope: Scope) -> None:
        given = op.arguments[: len(callee.parameters)]
        call = Call(
            self._plans,
            self._inventory,
            self._exec_mode,
            tuple(self._active),
            callee,
            scope,
            Arguments([self._reference(frame, value) for value in given]),
            tuple([self._known(frame.origin(value)) for value in given]) if self._decided else (),
        )
        activation = self._activation(call)
        if activation is None:
            super()._enter(frame, op, callee, scope)
        else:
            self._repeat(frame, op, activation, call.arguments)

    def _activation(self, call: Call) -> Activation | None:
        """What such a call does; None where that depends on more. Raises Indeterminate."""
        known = self._plans.activations
        if call.key not in known:
            if self._depth == MAX_DEPTH:
                raise _TooDeep(call)
            try:
                call.record(self._depth + 1)
            except _Decides as reason:
                self._is_like_no_other(reason)
        found: Activation | Indeterminate | None = known[call.key]
        if isinstance(found, Indeterminate):
            raise Indeterminate(str(found))
        return found

    def _is_like_no_other(self, reason: _Decides) -> None:
        """The activation that was being recorded has to be walked where it is."""

    def _repeat(self, frame: Frame, op: FunctionCall, activation: Activation, arguments: Arguments) -> None:
        """Do what the activation does."""
        numbers = {number: self._adopt(one) for number, one in activation.lasting.items()}
        here = Translation(activation, arguments, numbers)
        first, *rest = activation.stretches
        self._insert(first)
        result, returned = here.of(activation.result), here.of(activation.returned)
        self._count(result, 1)
        for stretch in rest:
            self._count(returned, 1)
            self._let_go_of_last()
            self._returned = returned
            self._insert(stretch)
        if activation.overwrites:
            self._overwrite_in(activation, frame, op.arguments, arguments)
        self._hold(frame, op.result, result)
        self._let_go(result)

    def _overwrite_in(
        self, activation: Activation, frame: Frame, given: Sequence[ValueId], arguments: Arguments
    ) -> None:
        """A call may write what an activation writes."""
        if self._decided:
            self._decided.overwritten(activation.overwritten(frame, given, arguments))

    def _insert(self, stretch: Events) -> None:
        if stretch.events or stretch.inside:
            self._stretches[-1].inside.append((len(self._events), stretch))


class _Recorder(FoldedWalker):
    """Follows one activation for all that are alike. The arguments belong to who calls."""

    def __init__(
        self,
        plans: Plans,
        inventory: Inventory,
        exec_mode: ExecMode,
        active: Sequence[str],
        depth: int,
    ) -> None:
        super().__init__(plans, inventory, exec_mode)
        self._depth = depth
        self._active = list(active)
        self._returned = _NOT_YET
        self._overwrites = Overwrites()

    def record(self, call: Call) -> Activation:
        """What it does. Raises Indeterminate and _Decides."""
        callee, arguments = call.callee, call.arguments
        self._active.append(callee.name)
        self._outermost = frame = self._frame(callee, call.scope.copy())
        for parameter, reference in zip(callee.parameters, arguments.references, strict=False):
            self._hold(frame, parameter, reference)
        for parameter, taken in zip(callee.parameters, call.decided, strict=False):
            if taken is not None:
                self._decided.note((frame, parameter), Memory(), taken)
        result = self._call(frame)
        return Activation(
            frame,
            arguments,
            tuple(self._stretches),
            result,
            None if self._returned is _NOT_YET else self._returned,
            {number: self._allocations[number] for number, count in enumerate(self._references) if count > 0},
            self._overwrites,
        )

    def _let_go_of_last(self) -> None:
        if self._returned is _NOT_YET:
            self._begin_stretch()
        else:
            super()._let_go_of_last()

    def _is_like_no_other(self, reason: _Decides) -> None:
        if reason.always:
            raise reason

    # -- decisions: those that who calls has made are a part of what activations have in common ------

    def _known(self, origin: Register) -> bool | None:
        known = super()._known(origin)
        if known is not None and self._may_be_outside(self._overwrites.until_now()):
            # Two arguments may be the same memory: what is overwritten may have been the condition.
            raise _Decides(always=False)
        return known

    def _may_be_outside(self, memory: Memory) -> bool:
        places = memory.places | memory.perhaps
        return any(map(self._is_outside, places)) or any(one.returned for one in memory.known)

    def _is_outside(self, place: Place) -> bool:
        if isinstance(place, int):
            return place < 0
        if not isinstance(place, tuple):
            return True
        frame, root = place
        return frame is self._outermost and frame.parameter(root) is not None

    def _decide(self) -> bool:
        raise _Decides(always=True)

    def _note(self, origin: Register, memory: Memory, taken: bool) -> None:
        if self._is_outside(origin):
            raise _Decides(always=False)
        super()._note(origin, memory, taken)

    def _overwrite(self, frame: Frame, values: Iterable[ValueId]) -> None:
        values = tuple(values)
        for value in values:
            self._overwrites.of_value(frame, value, self._reference(frame, value))
        super()._overwrite(frame, values)

    def _run_kernel(self, frame: Frame, op: KernelCall) -> None:
        # Who calls may have decided something: then it is asked.
        if op.arguments:
            given = {value: self._reference(frame, value) for value in op.arguments}
            self._overwrites.of_kernel(frame, given, partial(self._plans.written, op))
        super()._run_kernel(frame, op)

    def _overwrite_in(
        self, activation: Activation, frame: Frame, given: Sequence[ValueId], arguments: Arguments
    ) -> None:
        self._overwrites.of_call(activation, frame, given, arguments)
        super()._overwrite_in(activation, frame, given, arguments)
