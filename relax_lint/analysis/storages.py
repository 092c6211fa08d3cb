"""Which storage a value is, seen through aliases, tuples, branches and calls of other functions."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.followed import Finding, Followed, Question
from relax_lint.model.operations import (
    Alias,
    AllocStorage,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
    View,
)
from relax_lint.model.program import Function
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.builtins import GET_ITEM, MAKE_TUPLE, ViewKind

Storages: TypeAlias = tuple[AllocStorage, ...] | Unknown
"""Every storage that a value may be; Unknown where one of them is not known."""

_NOT_ALLOCATED = Unknown("the storage is not allocated in this function")

_RECURSIVE = Unknown("the storage comes from a recursive call")

_DEEPEST = 16
"""Fields of fields: a function that calls itself with a field of its parameter takes ever more of them."""


class StorageResolver:
    """Finds the storages of the values of one program.

    A storage that another function allocates is followed through the call only where its size is
    a constant: the symbols of the other function mean nothing here.
    """

    def __init__(self, callees: Callees) -> None:
        self._callees = callees
        self._definitions: dict[str, dict[ValueId, Op]] = {}
        self._found: dict[tuple[str, ValueId], Storages] = {}
        # What a call hands on to itself is nothing that another call did not bring.
        self._followed: Followed[Storages] = Followed((), _RECURSIVE)

    def storages_of(self, function: Function, value: ValueId) -> Storages:
        """The storages that a value of `function` may be: the same object for each of its tensors."""
        key = (function.name, value)
        known = self._found.get(key)
        if known is None:
            # None: of a function that nobody but itself calls.
            asked = self._asked(function, value, ())
            found = _RECURSIVE if asked is None else self._followed.answer(asked)
            known = self._found[key] = found or _RECURSIVE
        return known

    def is_passed_in(self, function: Function, value: ValueId) -> bool:
        """Whether a value is a parameter of a function, under any of its names."""
        op = self._defined_by(function).get(value)
        while (step := handed_on(op, function)) is not None:
            value = step[0]
            op = self._defined_by(function).get(value)
        return value in function.parameters

    def _resolve(self, function: Function, value: ValueId, items: tuple[int, ...]) -> Finding[Storages]:
        asked = self._asked(function, value, items)
        return _RECURSIVE if asked is None else (yield asked)

    def _asked(self, function: Function, value: ValueId, items: tuple[int, ...]) -> Question[Storages] | None:
        """`items` are the tuple fields still to be taken of `value`, outermost first; nothing where they are
        too many.
        """
        op = self._defined_by(function).get(value)
        while (step := handed_on(op, function)) is not None:
            value, items = step[0], (*step[1], *items)
            op = self._defined_by(function).get(value)
        if len(items) > _DEEPEST:
            return None
        key = (function.name, value, items)
        return Question(key, partial(self._through, function, value, items))

    def _through(self, function: Function, value: ValueId, items: tuple[int, ...]) -> Finding[Storages]:
        """The same, of what is no other name or field of a value."""
        op = self._defined_by(function).get(value)
        if isinstance(op, AllocStorage) and not items:
            return (op,)
        if isinstance(op, KernelCall) and op.callee == MAKE_TUPLE:
            fields: tuple[ValueId, ...] | None = op.arguments
        else:
            fields = op.items if isinstance(op, MakeTuple) else function.inline_tuples.get(value)
        if value in self._callees.closures.of(function):
            fields = self._callees.closures.of(function)[value].held
        if fields is not None and items and items[0] < len(fields):
            return (yield from self._resolve(function, fields[items[0]], items[1:]))
        if isinstance(op, If):
            one = yield from self._resolve(function, op.then_result, items)
            return _all([one, (yield from self._resolve(function, op.else_result, items))])
        callees = self._callees.all_of(op) if isinstance(op, FunctionCall) else ()
        if callees:
            given: list[Storages] = []
            for callee in callees:
                given.append(
                    _constant_sized((yield from self._resolve(callee, callee.result, items)), callee)
                )
            return _all(given)
        if value in function.parameters and not self._callees.escapes(function):
            return (yield from self._from_callers(function, value, items))
        return _NOT_ALLOCATED

    def _from_callers(
        self, function: Function, parameter: ValueId, items: tuple[int, ...]
    ) -> Finding[Storages]:
        """The storages that the calls which are seen pass in."""
        calls = self._callees.calls_of(function)
        passed = [(caller, self._callees.passed(call, function).get(parameter)) for caller, call in calls]
        found: list[Storages] = []
        for caller, path in passed:
            if path is None:
                found.append(_NOT_ALLOCATED)
            else:
                storages = yield from self._resolve(caller, path.value, (*path.fields, *items))
                found.append(_constant_sized(storages, caller))
        return _all(found) if found else _NOT_ALLOCATED

    def _defined_by(self, function: Function) -> dict[ValueId, Op]:
        known = self._definitions.get(function.name)
        if known is None:
            known = self._definitions[function.name] = {op.result: op for op in function.body.walk()}
        return known


def handed_on(op: Op | None, function: Function) -> tuple[ValueId, tuple[int, ...]] | None:
    """The value that an operation only gives another name, or takes a field of, and which one."""
    if isinstance(op, Alias | MatchCast) or (isinstance(op, View) and op.kind is ViewKind.COPY):
        return op.source, ()
    if isinstance(op, GetItem):
        return op.tuple, (op.item,)
    if isinstance(op, KernelCall) and op.callee == GET_ITEM and len(op.arguments) == 2:
        number = getattr(function.type_of(op.arguments[1]), "value", None)
        if number is not None and number.is_Integer and number >= 0:
            return op.arguments[0], (int(number),)
    return None


def _all(alternatives: list[Storages]) -> Storages:
    found: list[AllocStorage] = []
    for storages in alternatives:
        if isinstance(storages, Unknown):
            return storages
        found += [storage for storage in storages if storage not in found]
    return tuple(found)


def _constant_sized(storages: Storages, function: Function) -> Storages:
    if isinstance(storages, Unknown):
        return storages
    for storage in storages:
        if isinstance(storage.size, Unknown) or storage.size.free_symbols:
            return Unknown(
                f"the storage is allocated in `{function.name}` with a size that is not a constant"
            )
    return storages
