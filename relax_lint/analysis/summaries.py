"""What calls of the module's own Relax functions do to the tensors that they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from relax_lint.model.operations import FunctionCall, ValueId
from relax_lint.model.program import Function, Program


@dataclass(frozen=True)
class Summary:
    """What one function does. Values are its parameters, and for an inner function the values of the outer
    one that it uses.

    `reads` are read as they come in, `writes` are written, `passed` go to calls whose effect is not
    known, `returns` may be part of the result; `fresh` says that the result may be something else,
    `unwritten` that it is a tensor without contents.
    """

    parameters: tuple[ValueId, ...]
    reads: frozenset[ValueId] = frozenset()
    writes: frozenset[ValueId] = frozenset()
    passed: frozenset[ValueId] = frozenset()
    returns: frozenset[ValueId] = frozenset()
    fresh: bool = False
    unwritten: bool = False

    def values(self, chosen: Iterable[ValueId], call: FunctionCall) -> tuple[ValueId, ...]:
        """Values of the function as the caller of `call` knows them."""
        passed = dict(zip(self.parameters, call.arguments, strict=False))
        return tuple(passed.get(value, value) for value in sorted(chosen))

    def returned(self, call: FunctionCall) -> tuple[ValueId, ...]:
        """The values of the caller whose bytes the result may share, the result itself among them."""
        own = (call.result,) if self.fresh else ()
        return (*own, *self.values(self.returns, call))

    def union(self, other: Summary) -> Summary:
        """Everything that either says."""
        return Summary(
            self.parameters,
            self.reads | other.reads,
            self.writes | other.writes,
            self.passed | other.passed,
            self.returns | other.returns,
            self.fresh or other.fresh,
            self.unwritten or other.unwritten,
        )


class Summaries:
    """The summaries of the functions of one program, each computed when it is first asked for.

    All functions that a function can reach are solved together, from functions that do nothing until nothing
    is added: recursion needs no special case.
    """

    def __init__(self, program: Program, summarise: Callable[[Function], Summary]) -> None:
        self._functions = {function.name: function for function in program.functions}
        self._summarise = summarise
        self._known: dict[str, Summary] = {}
        self._pending: dict[str, Summary] = {}

    def of(self, call: FunctionCall, caller: Function) -> Summary | None:
        """What a call does; None where the callee is not known, such as a function that is a parameter."""
        scope = caller.name
        while scope:
            inner = self._functions.get(f"{scope}.{call.callee}")
            if inner is not None:
                return self._of(inner)
            scope = scope.rpartition(".")[0]
        function = self._functions.get(call.callee)
        return None if function is None else self._of(function)

    def _of(self, function: Function) -> Summary:
        known = self._known.get(function.name)
        if known is not None:
            return known
        if self._pending:
            return self._pending.setdefault(function.name, Summary(function.parameters))
        self._pending[function.name] = Summary(function.parameters)
        while self._grow():
            pass
        self._known.update(self._pending)
        self._pending.clear()
        return self._known[function.name]

    def _grow(self) -> bool:
        """One round over the functions met so far, callees first; whether anything was added."""
        before = dict(self._pending)
        for name in reversed(before):
            found = self._summarise(self._functions[name])
            self._pending[name] = self._pending[name].union(found)
        return self._pending != before
