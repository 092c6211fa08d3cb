"""Which functions of the program a value may be: names, tuples, branches, parameters and results are
followed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.closures import Closures
from relax_lint.analysis.followed import Finding, Followed, Question
from relax_lint.model.operations import (
    Alias,
    FunctionCall,
    GetItem,
    If,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
    View,
)
from relax_lint.model.program import Function, Program
from relax_lint.vm.builtins import ViewKind

Found = frozenset[tuple[str, int]]
"""Functions by name, each with how many values are held for it."""
_DEEPEST = 16
"""Fields of fields: a function that calls itself with a field of its parameter takes ever more of them."""


class FunctionValues:
    """The functions that the values of one program are. A parameter is what is passed, if all calls are seen.

    What a function or closure holds is a field of the value, whatever its name, as it is of a tuple.
    """

    def __init__(
        self,
        program: Program,
        knows_callers: Callable[[Function], bool],
        calls_of: Callable[[Function], tuple[tuple[Function, Mapping[ValueId, AccessPath]], ...]],
        closures: Closures | None = None,
    ) -> None:
        self._functions = program.by_name
        self._knows_callers = knows_callers
        self._calls_of = calls_of
        self._closures = Closures(program) if closures is None else closures
        self._definitions: dict[str, dict[ValueId, Op]] = {}
        # A recursion passes on what it got.
        self._followed: Followed[Found | None] = Followed(frozenset(), None)

    def of(self, function: Function, path: AccessPath) -> tuple[tuple[str, ...], int] | None:
        """The names of the functions that a value of `function` may be, and how many values it holds; None
        where they are not known, or do not all hold so many.
        """
        asked = self._asked(function, path.value, path.fields)
        found = (None if asked is None else self._followed.answer(asked)) or frozenset()
        counts = {held for _, held in found}
        return (tuple(sorted({name for name, _ in found})), counts.pop()) if len(counts) == 1 else None

    def forget(self) -> None:
        """More callers are known than before."""
        self._followed.forget()

    def _of(self, function: Function, value: ValueId, items: tuple[int, ...]) -> Finding[Found | None]:
        asked = self._asked(function, value, items)
        return None if asked is None else (yield asked)

    def _asked(
        self, function: Function, value: ValueId, items: tuple[int, ...]
    ) -> Question[Found | None] | None:
        """`items` are the fields still to be taken, outermost first; nothing where they are too many."""
        closures, op = self._closures.of(function), self._defined_by(function).get(value)
        while value not in closures and (
            isinstance(op, Alias | MatchCast) or (isinstance(op, View) and op.kind is ViewKind.COPY)
        ):
            value = op.source
            op = self._defined_by(function).get(value)
        if len(items) > _DEEPEST:
            return None
        key = (function.name, value, items)
        return Question(key, partial(self._through, function, value, items))

    def _through(self, function: Function, value: ValueId, items: tuple[int, ...]) -> Finding[Found | None]:
        """The same, of what hands the value on."""
        closure = self._closures.of(function).get(value)
        if closure is not None:
            if not items:
                return frozenset(((closure.name, len(closure.held)),))
            known = items[0] < len(closure.held)
            return (yield from self._of(function, closure.held[items[0]], items[1:])) if known else None
        fields = function.inline_tuples.get(value)
        op = self._defined_by(function).get(value)
        if isinstance(op, MakeTuple):
            fields = op.items
        if fields is not None:
            known = bool(items) and items[0] < len(fields)
            return (yield from self._of(function, fields[items[0]], items[1:])) if known else None
        if isinstance(op, GetItem):
            return (yield from self._of(function, op.tuple, (op.item, *items)))
        if isinstance(op, If):
            one = yield from self._of(function, op.then_result, items)
            return _all([one, (yield from self._of(function, op.else_result, items))])
        callee = self._functions.get(op.target or "") if isinstance(op, FunctionCall) else None
        if callee is not None:
            return (yield from self._of(callee, callee.result, items))
        if value in function.parameters:
            knows_callers = self._knows_callers(function)
            return (yield from self._from_callers(function, value, items)) if knows_callers else None
        around = self._closures.around(function)
        if op is None and around is not None and value in self._closures.visible(function):
            return (yield from self._of(around, value, items))
        return None

    def _from_callers(
        self, function: Function, parameter: ValueId, items: tuple[int, ...]
    ) -> Finding[Found | None]:
        found: list[Found | None] = []
        for caller, passed in self._calls_of(function):
            path = passed.get(parameter)
            if path is None:
                return None
            found.append((yield from self._of(caller, path.value, (*path.fields, *items))))
        return _all(found)

    def _defined_by(self, function: Function) -> dict[ValueId, Op]:
        known = self._definitions.get(function.name)
        if known is None:
            known = self._definitions[function.name] = {op.result: op for op in function.body.walk()}
        return known


def _all(found: list[Found | None]) -> Found | None:
    known = [one for one in found if one is not None]
    return frozenset[tuple[str, int]]().union(*known) if len(known) == len(found) else None
