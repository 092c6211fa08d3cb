"""Functions and closures that are values: each is a function of the program with the values that it holds.

A function that is written inside of another one holds what it uses of that one, a closure what it was made
with: LambdaLift makes the second of the first. Who calls either calls the function with what is held behind
what is given, wherever the value went by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from relax_lint.analysis.dominance import captured_values, outer_function, used_inside
from relax_lint.model.operations import Alias, FunctionCall, KernelCall, MatchCast, ValueId
from relax_lint.model.program import Function, Program
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm.calls import CLOSURE_MAKERS, MAKE_CLOSURE


@record(frozen=True)
class Closure:
    """The function of the program that `name` is, with the values that it holds."""

    name: str
    held: tuple[ValueId, ...] = ()


class Closures:
    """The functions and closures of one program that are values."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._functions = program.by_name
        self._of: dict[str, dict[ValueId, Closure]] = {}

    @cached_property
    def made(self) -> frozenset[str]:
        """The functions of which the program makes closures."""
        calls = ((op, f) for f in self._program.functions for op in f.body.of(KernelCall))
        found = (self._made(op, function) for op, function in calls if op.callee in CLOSURE_MAKERS)
        return frozenset(closure.name for closure in found if closure is not None)

    def of(self, function: Function) -> Mapping[ValueId, Closure]:
        """The values of a function, those of the functions around it that it may use among them, which are
        functions or closures.
        """
        known = self._of.get(function.name)
        if known is None:
            known = self._of[function.name] = dict(self._found(function))
        return known

    def held(self, function: Function) -> dict[ValueId, tuple[ValueId, ...]]:
        """What those of these values hold that hold something."""
        return {value: closure.held for value, closure in self.of(function).items() if closure.held}

    def captured(self, name: str) -> tuple[ValueId, ...]:
        """What an inner function holds, in one order: the values of the functions around it that it uses, or
        that functions use which it calls. None of a function of the module.
        """
        return self._captured.get(name, ())

    def around(self, function: Function) -> Function | None:
        """The function inside of which another one is written."""
        return self._around.get(function.name)

    def visible(self, function: Function) -> frozenset[ValueId]:
        """The values of the functions around an inner one that it may use."""
        return self._visible.get(function.name, frozenset())

    def _found(self, function: Function) -> Iterator[tuple[ValueId, Closure]]:
        around = self._around.get(function.name)
        if around is not None:
            visible = self._visible[function.name]
            yield from ((value, one) for value, one in self.of(around).items() if value in visible)
        own = {value: Closure(name, self.captured(name)) for value, name in function.function_values.items()}
        yield from own.items()
        if not self.made:
            return
        for op in function.body.of(KernelCall, Alias, MatchCast):
            made = self._made(op, function) if isinstance(op, KernelCall) else own.get(op.source)
            if made is not None and op.result not in own:
                own[op.result] = made
                yield op.result, made

    @cached_property
    def _around(self) -> dict[str, Function]:
        """The function around each inner one."""
        found = {f.name: outer_function(self._program, f) for f in self._program.functions if "." in f.name}
        return {name: outer for name, outer in found.items() if outer is not None}

    @cached_property
    def _visible(self) -> dict[str, frozenset[ValueId]]:
        """The values of the functions around each inner one that it may use."""
        return {name: captured_values(self._program, self._functions[name]) for name in self._around}

    @cached_property
    def _captured(self) -> dict[str, tuple[ValueId, ...]]:
        found = {name: set(used_inside(self._program, outer, name)) for name, outer in self._around.items()}
        grows = bool(found)
        while grows:
            grows = False
            for name, values in found.items():
                more = set(self._behind(name, found)) & self._visible[name]
                grows = grows or not more <= values
                values |= more
        return {name: tuple(sorted(values)) for name, values in found.items()}

    def _behind(self, name: str, found: Mapping[str, set[ValueId]]) -> Iterator[ValueId]:
        """What the functions and closures hold that an inner function, or one inside of it, calls or uses."""
        inside = [f for f in self._program.functions if f"{f.name}.".startswith(f"{name}.")]
        for call in (call for function in inside for call in function.body.of(FunctionCall)):
            yield from found.get(call.target or "", ())
        outer = self._around[name]
        while True:
            for value in found[name] & outer.function_values.keys():
                yield from found.get(outer.function_values[value], ())
            for op in outer.body.of(KernelCall) if self.made else ():
                made = self._made(op, outer) if op.result in found[name] else None
                yield from () if made is None else made.held
            if outer.name not in self._around:
                return
            outer = self._around[outer.name]

    def _made(self, op: KernelCall, function: Function) -> Closure | None:
        """The closure that a call makes; None where its function, or what it holds, is not known."""
        if op.callee not in CLOSURE_MAKERS or not op.arguments:
            return None
        name = function.function_values.get(op.arguments[0])
        if name not in self._functions or name in self._around:
            return None
        if op.callee != MAKE_CLOSURE:
            return Closure(name, op.arguments[1:])
        held = function.inline_tuples.get(op.arguments[1]) if len(op.arguments) == 2 else None
        return None if held is None else Closure(name, held)
