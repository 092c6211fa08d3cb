"""Which functions of a program call which, and of which functions the callers are not all known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from relax_lint.analysis.function_values import FunctionValues
from relax_lint.analysis.liveness import leaves, operands
from relax_lint.model.operations import Alias, FunctionCall, If, ValueId
from relax_lint.model.program import Function, Program


class Callees:
    """The calls between the functions of one program.

    A function that is an argument, a field of a tuple or a result, or that a branch gives, may be called from
    anywhere with anything. One that only has other names is called by those who use them.
    """

    def __init__(self, program: Program) -> None:
        self._functions = {function.name: function for function in program.functions}
        self._calls: dict[str, list[tuple[Function, FunctionCall]]] = defaultdict(list)
        self._escaped: set[str] = set()
        for function in program.functions:
            for op in function.body.of(FunctionCall):
                if op.target is not None:
                    self._calls[op.target].append((function, op))
            for value in _passed_on(function):
                if value in function.function_values:
                    self._escaped.add(function.function_values[value])
        self._handed_over: dict[int, tuple[str, ...]] = {}
        """By the identity of a call of a function value: the functions that it may be."""
        if self._escaped:
            self._follow(program)

    def _follow(self, program: Program) -> None:
        """Finds out which functions the values are that are called."""
        values = FunctionValues(program, self.knows_callers, lambda function: tuple(self.calls_of(function)))
        found: list[tuple[Function, FunctionCall, tuple[str, ...]]] = []
        for function in program.functions:
            for op in function.body.of(FunctionCall):
                if op.target is None and op.value is not None:
                    names = values.of(function, op.value)
                    if names is not None:
                        found.append((function, op, names))
        for function, op, names in found:
            self._handed_over[id(op)] = names
            for name in names:
                self._calls[name].append((function, op))

    def of(self, call: FunctionCall) -> Function | None:
        """The function that a call is of; None where that is not known, or it is one of several."""
        found = self.all_of(call)
        return found[0] if len(found) == 1 else None

    def all_of(self, call: FunctionCall) -> tuple[Function, ...]:
        """The functions one of which a call is of; none where that is not known."""
        names = (call.target,) if call.target is not None else self._handed_over.get(id(call), ())
        found = tuple(self._functions[name] for name in names if name in self._functions)
        return found if len(found) == len(names) else ()

    def calls_of(self, function: Function) -> list[tuple[Function, FunctionCall]]:
        """The calls of a function that are seen, each with the function that it is in."""
        return self._calls.get(function.name, [])

    def knows_callers(self, function: Function) -> bool:
        """Whether every call of a function is seen."""
        return function.private and not self.escapes(function)

    def escapes(self, function: Function) -> bool:
        """Whether a function of the module is handed on, to be called from where it cannot be followed."""
        return function.name in self._escaped


def _passed_on(function: Function) -> Iterator[ValueId]:
    """The values that may get to where they cannot be followed, under a name or in a tuple."""
    for op in function.body.walk():
        if isinstance(op, If):
            yield from leaves((op.then_result, op.else_result), function)
        elif not isinstance(op, Alias):
            yield from operands(op, function)
    yield from leaves((function.result,), function)
