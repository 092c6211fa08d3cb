"""Which storage a value is, seen through aliases, tuples, branches and calls of other functions."""

from __future__ import annotations

from typing import TypeAlias

from relax_lint.analysis.callees import Callees
from relax_lint.model.operations import (
    Alias,
    AllocStorage,
    FunctionCall,
    GetItem,
    If,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
)
from relax_lint.model.program import Function
from relax_lint.symbolic.quantity import Unknown

Storages: TypeAlias = tuple[AllocStorage, ...] | Unknown
"""Every storage that a value may be; Unknown where one of them is not known."""

_NOT_ALLOCATED = Unknown("the storage is not allocated in this function")

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

    def storages_of(self, function: Function, value: ValueId) -> Storages:
        """The storages that a value of `function` may be: the same object for each of its tensors."""
        key = (function.name, value)
        known = self._found.get(key)
        if known is None:
            # None: of a function that nobody but itself calls.
            resolved = self._resolve(function, value, (), frozenset())
            known = self._found[key] = resolved or Unknown("the storage comes from a recursive call")
        return known

    def is_passed_in(self, function: Function, value: ValueId) -> bool:
        """Whether a value is a parameter of a function, under any of its names."""
        op = self._defined_by(function).get(value)
        while isinstance(op, Alias | MatchCast | GetItem):
            value = op.tuple if isinstance(op, GetItem) else op.source
            op = self._defined_by(function).get(value)
        return value in function.parameters

    def _resolve(
        self,
        function: Function,
        value: ValueId,
        items: tuple[int, ...],
        seen: frozenset[tuple[str, ValueId, tuple[int, ...]]],
    ) -> Storages:
        """`items` are the tuple fields still to be taken of `value`, outermost first."""
        key = (function.name, value, items)
        if key in seen:
            # What a call hands on to itself is nothing that another call did not bring.
            return ()
        if len(items) > _DEEPEST:
            return Unknown("the storage comes from a recursive call")
        seen |= {key}
        op = self._defined_by(function).get(value)
        if isinstance(op, AllocStorage) and not items:
            return (op,)
        if isinstance(op, Alias | MatchCast):
            return self._resolve(function, op.source, items, seen)
        if isinstance(op, GetItem):
            return self._resolve(function, op.tuple, (op.item, *items), seen)
        fields = op.items if isinstance(op, MakeTuple) else function.inline_tuples.get(value)
        if value in self._callees.closures.of(function):
            fields = self._callees.closures.of(function)[value].held
        if fields is not None and items and items[0] < len(fields):
            return self._resolve(function, fields[items[0]], items[1:], seen)
        if isinstance(op, If):
            branches = (op.then_result, op.else_result)
            return _all([self._resolve(function, branch, items, seen) for branch in branches])
        callee = self._callees.of(op) if isinstance(op, FunctionCall) else None
        if callee is not None:
            return _constant_sized(self._resolve(callee, callee.result, items, seen), callee)
        if value in function.parameters and not self._callees.escapes(function):
            return self._from_callers(function, value, items, seen)
        return _NOT_ALLOCATED

    def _from_callers(
        self,
        function: Function,
        parameter: ValueId,
        items: tuple[int, ...],
        seen: frozenset[tuple[str, ValueId, tuple[int, ...]]],
    ) -> Storages:
        """The storages that the calls which are seen pass in."""
        calls = self._callees.calls_of(function)
        passed = [(caller, self._callees.passed(call, function).get(parameter)) for caller, call in calls]
        found = [
            _NOT_ALLOCATED
            if path is None
            else _constant_sized(self._resolve(caller, path.value, (*path.fields, *items), seen), caller)
            for caller, path in passed
        ]
        return _all(found) if found else _NOT_ALLOCATED

    def _defined_by(self, function: Function) -> dict[ValueId, Op]:
        known = self._definitions.get(function.name)
        if known is None:
            known = self._definitions[function.name] = {op.result: op for op in function.body.walk()}
        return known


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
