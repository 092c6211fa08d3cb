"""Which tensors that come from outside of a function do not start at their data pointer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.liveness import operands
from relax_lint.analysis.offsets import Offsets, Starts, either, is_zero, joined_starts, known_elsewhere
from relax_lint.analysis.returned_offsets import ReturnedOffsets
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId
from relax_lint.model.program import Function, Program
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.builtins import BUILTINS
from relax_lint.vm.calls import CLOSURE_BUILTINS, UNREAD, CallKind

_PACKED = (CallKind.PACKED, CallKind.CALL_DPS_PACKED, CallKind.CALL_INPLACE_PACKED)
_CHOSEN = Unknown("the offset depends on the caller")
_BY_OUTER = Unknown("the outer function chooses the offset")

_Given = dict[ValueId, Starts]


class Moved:
    """The parameters that some caller gives a tensor which starts elsewhere, and the values of outer
    functions that do.

    A function that is handed on may be called with whatever is given to calls of which it is not known what
    they call, and to a packed function together with it.
    """

    def __init__(self, program: Program, callees: Callees, returned: ReturnedOffsets) -> None:
        self._program = program
        self._callees = callees
        self._returned = returned

    def of(self, function: Function, *, in_memory: bool) -> Mapping[ValueId, Starts]:
        """Where those values start that do not start at their data pointer; `in_memory` as in `Offsets`."""
        return self._with(function, self._parameters, in_memory=in_memory)

    def inside(self, function: Function, *, in_memory: bool) -> Offsets:
        """Where the values of a function start."""
        given = self.of(function, in_memory=in_memory) if self._returned.moves else {}
        return self._returned.inside(function, given, in_memory=in_memory)

    def _with(self, function: Function, parameters: Mapping[str, _Given], *, in_memory: bool) -> _Given:
        moved = {value: one for value, one in parameters.get(function.name, {}).items() if not is_zero(one)}
        # Where the memory of a parameter starts only its callers know.
        found: _Given = dict.fromkeys(moved, _CHOSEN) if in_memory else moved
        outer = self._callees.closures.around(function)
        if outer is not None:
            given = self._with(outer, parameters, in_memory=in_memory)
            offsets = self._returned.inside(outer, given, in_memory=in_memory)
            for value in self._callees.closures.visible(function):
                starts = known_elsewhere(offsets.starts(value), _BY_OUTER)
                if not is_zero(starts):
                    found[value] = starts
        return found

    def is_given_to(self, keeps: Callable[[Op], bool]) -> bool:
        """Whether some call that `keeps` what it is given gets a tensor that does not start at its data
        pointer.
        """
        return any(
            not is_zero(offsets.starts(argument))
            for function, calls in self._calls(keeps)
            for offsets in (self.inside(function, in_memory=False),)
            for call in calls
            for argument in call.arguments
        )

    def _calls(
        self, keeps: Callable[[Op], bool]
    ) -> Iterator[tuple[Function, list[KernelCall | FunctionCall]]]:
        for function in self._program.functions:
            calls = [call for call in function.body.of(KernelCall, FunctionCall) if keeps(call)]
            if calls:
                yield function, calls

    @cached_property
    def _parameters(self) -> dict[str, _Given]:
        """By function: where its parameters start in all calls, if that is one place. From functions that
        nobody calls; calls that add something make the function pending again.
        """
        functions = self._program.functions
        found: dict[str, _Given] = {one.name: {} for one in functions if not self._callees.knows_callers(one)}
        self._follow([one for one in functions if one.name in found], found)
        for one in functions:
            if one.name not in found:
                # Only others that nobody calls lead to it.
                found[one.name] = {}
                self._follow([one], found)
        return found

    def _follow(self, pending: list[Function], found: dict[str, _Given]) -> None:
        while pending:
            caller = pending.pop()
            given = self._with(caller, found, in_memory=False)
            offsets = self._returned.inside(caller, given, in_memory=False)
            for callee, starts in self._given_by(caller, offsets):
                before = found.get(callee.name)
                found[callee.name] = self._joined(callee, before, starts)
                if found[callee.name] != before:
                    inside = f"{callee.name}."
                    pending += [
                        one
                        for one in self._program.functions
                        if one is callee or (one.name.startswith(inside) and one.name in found)
                    ]

    def _joined(self, function: Function, before: _Given | None, given: _Given) -> _Given:
        """Where the parameters of a function start, with one more call of it."""
        if before is None:
            return given
        found: _Given = {}
        for value in (*before, *(value for value in given if value not in before)):
            starts = either(before.get(value, joined_starts()), given.get(value, joined_starts()))
            found[value] = _CHOSEN if isinstance(starts, Unknown) else starts
        return found

    def _given_by(self, caller: Function, offsets: Offsets) -> Iterator[tuple[Function, _Given]]:
        """The functions that a function calls, and where what it gives them starts."""
        for call in caller.body.of(FunctionCall, KernelCall):
            called = self._callees.all_of(call) if isinstance(call, FunctionCall) else ()
            for function in called:
                assert isinstance(call, FunctionCall)
                starts = dict(self._returned.given(call, function, offsets.starts_at))
                exact = self._callees.knows_callers(function)
                yield function, {p: _given(starts[p], exact) for p in function.parameters if p in starts}
            perhaps = () if called else self._perhaps_called(call, caller)
            if perhaps and not all(is_zero(offsets.starts(one)) for one in operands(call, caller)):
                chosen: Starts = _CHOSEN
                yield from ((one, dict.fromkeys(one.parameters, chosen)) for one in perhaps)

    def _perhaps_called(self, call: FunctionCall | KernelCall, caller: Function) -> Sequence[Function]:
        """The functions that a call may call of which it is not known what it calls: any that was handed on,
        a packed function those that it is given, as it is taken to keep none, what was not read those that it
        names.
        """
        if isinstance(call, FunctionCall) or call.callee in CLOSURE_BUILTINS:
            return self._handed_on
        if call.kind not in _PACKED or call.callee in BUILTINS:
            return ()
        closures = self._callees.closures.of(caller)
        given = {closures[value].name for value in operands(call, caller) if value in closures}
        given |= self._program.called_unseen if call.callee.startswith(UNREAD) else set()
        return [one for one in self._handed_on if one.name in given]

    @cached_property
    def _handed_on(self) -> list[Function]:
        return [function for function in self._program.functions if self._callees.escapes(function)]


def _given(starts: Starts, exact: bool) -> Starts:
    """Where a parameter starts that is given this."""
    if not exact or (isinstance(starts, tuple) and any(isinstance(field, tuple) for field in starts)):
        return _CHOSEN
    return known_elsewhere(starts, _CHOSEN)
