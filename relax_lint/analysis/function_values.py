"""Which functions of the program a value may be, followed through names, tuples, branches and parameters."""

from __future__ import annotations

from collections.abc import Callable

from relax_lint.analysis.dominance import outer_function
from relax_lint.model.operations import (
    Alias,
    FunctionCall,
    GetItem,
    If,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
)
from relax_lint.model.program import Function, Program

Seen = frozenset[tuple[str, ValueId, tuple[int, ...]]]


class FunctionValues:
    """The functions that the values of one program are. A parameter is what is passed, if all calls are seen.

    Functions inside of others are not followed: what they capture means nothing elsewhere.
    """

    def __init__(
        self,
        program: Program,
        knows_callers: Callable[[Function], bool],
        calls_of: Callable[[Function], tuple[tuple[Function, FunctionCall], ...]],
    ) -> None:
        self._knows_callers = knows_callers
        self._calls_of = calls_of
        self._inner = {f.name for f in program.functions if outer_function(program, f) is not None}
        self._definitions: dict[str, dict[ValueId, Op]] = {}

    def of(self, function: Function, value: ValueId) -> tuple[str, ...] | None:
        """The names of the functions that a value of `function` may be; None where they are not known."""
        found = self._of(function, value, (), frozenset())
        return tuple(sorted(found)) if found else None

    def _of(
        self, function: Function, value: ValueId, items: tuple[int, ...], seen: Seen
    ) -> frozenset[str] | None:
        """`items` are the fields still to be taken, outermost first."""
        key = (function.name, value, items)
        if key in seen:
            # A recursion passes on what it got.
            return frozenset()
        seen |= {key}
        name = function.function_values.get(value)
        if name is not None:
            return None if items or name in self._inner else frozenset((name,))
        fields = function.inline_tuples.get(value)
        op = self._defined_by(function).get(value)
        if isinstance(op, MakeTuple):
            fields = op.items
        if fields is not None:
            known = bool(items) and items[0] < len(fields)
            return self._of(function, fields[items[0]], items[1:], seen) if known else None
        if isinstance(op, Alias | MatchCast):
            return self._of(function, op.source, items, seen)
        if isinstance(op, GetItem):
            return self._of(function, op.tuple, (op.item, *items), seen)
        if isinstance(op, If):
            return _all(
                [self._of(function, branch, items, seen) for branch in (op.then_result, op.else_result)]
            )
        if value in function.parameters and self._knows_callers(function):
            return self._from_callers(function, function.parameters.index(value), items, seen)
        return None

    def _from_callers(
        self, function: Function, parameter: int, items: tuple[int, ...], seen: Seen
    ) -> frozenset[str] | None:
        return _all(
            [
                self._of(caller, call.arguments[parameter], items, seen)
                if parameter < len(call.arguments)
                else None
                for caller, call in self._calls_of(function)
            ]
        )

    def _defined_by(self, function: Function) -> dict[ValueId, Op]:
        known = self._definitions.get(function.name)
        if known is None:
            known = self._definitions[function.name] = {op.result: op for op in function.body.walk()}
        return known


def _all(found: list[frozenset[str] | None]) -> frozenset[str] | None:
    known = [one for one in found if one is not None]
    return frozenset[str]().union(*known) if len(known) == len(found) else None
