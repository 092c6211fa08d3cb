"""Which functions of a program call which, with what, and of which the callers are not all known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from weakref import proxy

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.closures import Closures
from relax_lint.analysis.function_values import FunctionValues
from relax_lint.analysis.liveness import leaves, operands
from relax_lint.analysis.unread_calls import doubtful_calls, given_to_unread
from relax_lint.model.operations import Alias, FunctionCall, If, KernelCall, MatchCast, ValueId
from relax_lint.model.program import Function, Program
from relax_lint.vm.calls import CLOSURE_MAKERS


class Callees:
    """The calls between the functions of one program.

    A function that is an argument, a field of a tuple or a result may be called from anywhere with anything,
    and so may that of a closure, or one that a part of the module names that was not read. One that only has
    other names, or is one of those that a branch chooses from, is called by those who use them.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._functions = {function.name: function for function in program.functions}
        self._calls: dict[str, list[tuple[Function, FunctionCall]]] = defaultdict(list)
        self.closures = Closures(program)
        """The functions and closures that are values."""
        self._called_unseen = program.called_unseen
        self._handed_over: dict[int, tuple[str, ...]] = {}
        """By the identity of a call of a function value: the functions that it may be."""
        for function in program.functions:
            for op in function.body.of(FunctionCall):
                if op.target is not None:
                    self._calls[op.target].append((function, op))
        knows_callers = partial(Callees.knows_callers, proxy(self))
        passed_by = partial(Callees._passed_by, proxy(self))
        self._values = FunctionValues(program, knows_callers, passed_by, self.closures)
        # Until it is known who calls them, the functions of closures are taken to be called by anybody.
        self._escaped = {*self._passed_on(program), *self.closures.made}
        if self._escaped:
            self._follow(program)
            self._escaped = set(self._passed_on(program))
            self._follow(program)

    def _follow(self, program: Program) -> None:
        """Finds out which functions the values are that are called."""
        self._values.forget()
        found: list[tuple[Function, FunctionCall, tuple[str, ...]]] = []
        for function in program.functions:
            for op in function.body.of(FunctionCall):
                if op.target is not None or op.value is None or id(op) in self._handed_over:
                    continue
                known = self._values.of(function, AccessPath(op.value))
                if known is not None and all(self._takes(name, op, known[1]) for name in known[0]):
                    found.append((function, op, known[0]))
        for function, op, names in found:
            self._handed_over[id(op)] = names
            for name in names:
                self._calls[name].append((function, op))
        self._values.forget()

    def _takes(self, name: str, call: FunctionCall, held: int) -> bool:
        """Whether a function has a parameter for all that a call gives it and that is held for it."""
        function = self._functions.get(name)
        inside = len(self.closures.captured(name))
        return held in (0, inside) or (
            function is not None and len(call.arguments) + held == len(function.parameters)
        )

    def _passed_by(self, function: Function) -> tuple[tuple[Function, Mapping[ValueId, AccessPath]], ...]:
        return tuple((caller, self.passed(call, function)) for caller, call in self.calls_of(function))

    def passed(self, call: FunctionCall, function: Function) -> Mapping[ValueId, AccessPath]:
        """What each value of `function` that comes from outside is to the caller: its parameters, and what an
        inner function uses of those around it. What is not listed has the same name for both.
        """
        found = dict(zip(function.parameters, map(AccessPath, call.arguments), strict=False))
        if call.target is None and call.value is not None:
            held = self.closures.captured(function.name) or function.parameters[len(call.arguments) :]
            found |= {value: AccessPath(call.value, (item,)) for item, value in enumerate(held)}
        return found

    def holds(self, function: Function, path: AccessPath) -> int:
        """How many values a parameter, or a field of it, holds that is a function or a closure."""
        if not self._handed_over or not self.knows_callers(function):
            return 0
        known = self._values.of(function, path)
        return 0 if known is None else known[1]

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

    def read_calls_of(self, function: Function) -> list[tuple[Function, FunctionCall]]:
        """The calls of a function that are seen and depend on nothing that was not read of its module, where
        others do, or may be in that, and nowhere else.
        """
        if not self.is_partly_read(function):
            return []
        return [one for one in self.calls_of(function) if self._is_read(*one)]

    def is_partly_read(self, function: Function) -> bool:
        """Whether calls may lead to a function which were not read, and else only calls that are seen."""
        return function.name in self._partly_read

    @cached_property
    def _partly_read(self) -> frozenset[str]:
        program = self._program
        doubtful = (self._functions.get(name) for name in self._doubtful_callees)
        left = [one for one in program.functions if one.name in self._called_unseen]
        left += [one for one in doubtful if one is not None]
        if left:
            elsewhere = set(self._passed_on(program, but_unread=True))
        found = set[str]()
        while left:
            one = left.pop()
            if one.private and one.name not in found and one.name not in elsewhere:
                found.add(one.name)
                left += [other for call in one.body.of(FunctionCall) for other in self.all_of(call)]
        return frozenset(found)

    @cached_property
    def _doubtful(self) -> frozenset[int]:
        return frozenset[int]().union(*map(doubtful_calls, self._program.functions))

    @cached_property
    def _doubtful_callees(self) -> frozenset[str]:
        if not self._doubtful:
            return frozenset()
        calls = (call for function in self._program.functions for call in function.body.of(FunctionCall))
        return frozenset(
            one.name for call in calls if id(call) in self._doubtful for one in self.all_of(call)
        )

    def _is_read(self, caller: Function, call: FunctionCall) -> bool:
        return id(call) not in self._doubtful and caller.name in self._called_for_sure

    @cached_property
    def _called_for_sure(self) -> frozenset[str]:
        """The functions that others than what was not read may call. One that nobody calls is judged as one
        that is called.
        """
        left = [
            one
            for one in self._program.functions
            if one.name not in self._partly_read and (not self.knows_callers(one) or not self.calls_of(one))
        ]
        found = {one.name for one in left}
        while left:
            one = left.pop()
            for call in one.body.of(FunctionCall):
                if id(call) not in self._doubtful:
                    new = [other for other in self.all_of(call) if other.name not in found]
                    found.update(other.name for other in new)
                    left += new
        return frozenset(found)

    def escapes(self, function: Function) -> bool:
        """Whether a function of the module is handed on, to be called from where it cannot be followed."""
        return function.name in self._escaped or function.name in self._called_unseen

    def _passed_on(self, program: Program, *, but_unread: bool = False) -> Iterator[str]:
        """The functions that may get to where they cannot be followed: in a tuple, say, or in a closure. With
        `but_unread` without those that only what was not read gets.
        """
        for function in program.functions:
            if self.closures.of(function):
                named = self._named(function)
                for value in self._values_passed_on(function, but_unread=but_unread):
                    yield from named.get(value, ())

    def _named(self, function: Function) -> Mapping[ValueId, frozenset[str]]:
        """The functions that values are, under other names and where branches choose from them as well."""
        found = {value: frozenset((one.name,)) for value, one in self.closures.of(function).items()}
        ops = function.body.of(If, Alias, MatchCast)
        grows = any(isinstance(op, If) for op in ops)
        while grows:
            # Which branch gives what is known behind the operations in the branches.
            grows = False
            for op in reversed(ops):
                sources = (op.then_result, op.else_result) if isinstance(op, If) else (op.source,)
                names = frozenset[str]().union(*(found.get(source, frozenset()) for source in sources))
                if not names <= found.get(op.result, frozenset()):
                    found[op.result] = names | found.get(op.result, frozenset())
                    grows = True
        return found

    def _values_passed_on(self, function: Function, *, but_unread: bool) -> Iterator[ValueId]:
        closures = self.closures.of(function)
        unread = given_to_unread(function) if but_unread else frozenset()
        for op in function.body.walk():
            if op.place.index in unread:
                continue
            if isinstance(op, If):
                given = {op.then_result, op.else_result} & function.inline_tuples.keys()
                yield from leaves(tuple(given), function)
                yield op.condition
            elif isinstance(op, KernelCall) and op.callee in CLOSURE_MAKERS and op.result in closures:
                yield from leaves(closures[op.result].held, function)
            elif id(op) in self._handed_over:
                assert isinstance(op, FunctionCall)
                yield from leaves(op.arguments, function)
            elif not isinstance(op, Alias):
                yield from operands(op, function)
        yield from leaves((function.result,), function)
