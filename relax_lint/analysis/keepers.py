"""Which functions of a program give what they get to somebody who may keep it."""

from __future__ import annotations

from functools import cached_property

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.results import returns_something_new
from relax_lint.model.operations import FunctionCall, KernelCall, Op
from relax_lint.model.program import Function, Program


class Keepers:
    """The functions that call what is not known, themselves or through others."""

    def __init__(self, program: Program, callees: Callees) -> None:
        self._program = program
        self._callees = callees

    def keeps(self, call: FunctionCall | None) -> bool:
        """Whether somebody may keep what a call is given; None: what any function is given."""
        if call is None:
            return bool(self._names)
        return any(function.name in self._names for function in self._callees.all_of(call))

    @cached_property
    def _names(self) -> frozenset[str]:
        found = {
            f.name
            for f in self._program.functions
            if any(map(self.may_keep, f.body.of(KernelCall, FunctionCall)))
        }
        left = list(found)
        callers = self._callers()
        while left:
            new = callers.get(left.pop(), set()) - found
            found |= new
            left += new
        return frozenset(found)

    def may_keep(self, op: Op) -> bool:
        """Whether an operation gives what it gets to somebody who is not known."""
        if isinstance(op, KernelCall):
            return not op.pure and returns_something_new(op) is not None
        return isinstance(op, FunctionCall) and not self._callees.all_of(op)

    def _callers(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for function in self._program.functions:
            for callee in self._called_by(function):
                found.setdefault(callee, set()).add(function.name)
        return found

    def _called_by(self, function: Function) -> set[str]:
        calls = function.body.of(FunctionCall)
        return {callee.name for call in calls for callee in self._callees.all_of(call)}
