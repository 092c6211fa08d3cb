"""Which tensors that come from outside of a function do not start at their data pointer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.dominance import captured_values, outer_function
from relax_lint.analysis.offsets import Offsets, Returned, Starts, Viewed, is_zero, known_elsewhere
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId
from relax_lint.model.program import Function, Program
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.calls import CLOSURE_BUILTINS

_CHOSEN = Unknown("the offset depends on the caller")
_BY_OUTER = Unknown("the outer function chooses the offset")


class Moved:
    """The parameters that some caller gives a tensor which starts elsewhere, and the values of outer
    functions that do.

    A function that is handed on may be called with whatever is given to calls of which it is not known what
    they call.
    """

    def __init__(
        self, program: Program, callees: Callees, returned: Returned, viewed: Viewed, *, kept: bool = False
    ) -> None:
        self._program = program
        self._callees = callees
        self._returned = returned
        self._viewed = viewed
        self._kept = kept

    def of(self, function: Function, *, in_memory: bool) -> Mapping[ValueId, Starts]:
        """Where those values start that do not start at their data pointer; `in_memory` as in `Offsets`."""
        return self._with(function, self._parameters, in_memory=in_memory)

    def _with(
        self, function: Function, parameters: Mapping[str, set[ValueId]], *, in_memory: bool
    ) -> dict[ValueId, Starts]:
        found: dict[ValueId, Starts] = dict.fromkeys(parameters[function.name], _CHOSEN)
        outer = outer_function(self._program, function)
        if outer is not None:
            offsets = self._offsets(outer, parameters, in_memory=in_memory)
            for value in captured_values(self._program, function):
                starts = known_elsewhere(offsets.starts(value), _BY_OUTER)
                if not is_zero(starts):
                    found[value] = starts
        return found

    def _offsets(
        self, function: Function, parameters: Mapping[str, set[ValueId]], *, in_memory: bool
    ) -> Offsets:
        given = self._with(function, parameters, in_memory=in_memory)
        viewed = partial(self._viewed, function=function)
        return Offsets(
            function,
            in_memory=in_memory,
            given=given,
            returned=self._returned,
            viewed=viewed,
            kept=self._kept,
        )

    def is_given_to(self, keeps: Callable[[Op], bool]) -> bool:
        """Whether some call that `keeps` what it is given gets a tensor that does not start at its data
        pointer.
        """
        return any(
            not is_zero(offsets.starts(argument))
            for function, calls in self._calls(keeps)
            for offsets in (self._offsets(function, self._parameters, in_memory=False),)
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
    def _parameters(self) -> dict[str, set[ValueId]]:
        """By function: the parameters that some call moves. Calls that move more make the function pending
        again.
        """
        functions = self._program.functions
        found: dict[str, set[ValueId]] = {function.name: set() for function in functions}
        pending = list(functions)
        while pending:
            caller = pending.pop()
            offsets = self._offsets(caller, found, in_memory=False)
            for callee, parameters in self._moved_by(caller, offsets):
                if not parameters <= found[callee.name]:
                    found[callee.name] |= parameters
                    inside = f"{callee.name}."
                    pending += [f for f in functions if f is callee or f.name.startswith(inside)]
        return found

    def _moved_by(self, caller: Function, offsets: Offsets) -> Iterator[tuple[Function, set[ValueId]]]:
        """The functions that a function calls, and which of their parameters it moves."""
        for call in caller.body.of(FunctionCall, KernelCall):
            if isinstance(call, KernelCall) and call.callee not in CLOSURE_BUILTINS:
                continue
            moved = [not is_zero(offsets.starts(argument)) for argument in call.arguments]
            if not any(moved):
                continue
            called = self._callees.all_of(call) if isinstance(call, FunctionCall) else ()
            for function in called:
                yield function, {p for p, one in zip(function.parameters, moved, strict=False) if one}
            if not called:
                yield from ((function, set(function.parameters)) for function in self._handed_on)

    @cached_property
    def _handed_on(self) -> list[Function]:
        return [function for function in self._program.functions if self._callees.escapes(function)]
