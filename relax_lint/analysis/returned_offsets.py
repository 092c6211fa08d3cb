"""At which byte a tensor starts that a function of the program returns.

The body of the function is followed for what it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import TypeAlias

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.callees import Callees
from relax_lint.analysis.components import components
from relax_lint.analysis.offsets import (
    Offsets,
    Starts,
    StartsAt,
    Viewed,
    either,
    is_zero,
    joined_starts,
    known_elsewhere,
    unless_given,
)
from relax_lint.model.operations import AllocTensor, FunctionCall, ValueId, View
from relax_lint.model.program import Function, Program
from relax_lint.symbolic.quantity import Unknown

_CHOSEN = Unknown("the function that is called chooses the offset")
_DEEPEST = 40
"""Of so many calls inside of each other that move tensors it is not known what they return."""

Given: TypeAlias = tuple[tuple[ValueId, Starts], ...]
"""Where values start that come from outside of a function."""


class ReturnedOffsets:
    """Where the results of the functions of one program start; `viewed`, of a function, and `kept` as in
    `Offsets`.
    """

    def __init__(self, callees: Callees, program: Program, viewed: Viewed, *, kept: bool = False) -> None:
        self._callees = callees
        self._viewed = viewed
        self._kept = kept
        self._functions = program.by_name
        self._known: dict[tuple[str, Given, bool], Starts] = {}
        self._open: set[str] = set()
        self._presumed = 0
        """How often a function was asked for while it was followed."""

    def of(self, call: FunctionCall, starts_at: StartsAt, in_memory: bool) -> Starts:
        """Where the result of a call starts in whose caller values start so. What a function that is not
        known returns may be what it was given.
        """
        if not self.moves:
            return joined_starts()
        called = self._callees.all_of(call)
        if not called:
            values = call.arguments if call.value is None else (*call.arguments, call.value)
            return unless_given(tuple(starts_at(AccessPath(value)) for value in values), kept=self._kept)
        if not self._open:
            self._prepare(called, in_memory)
        found = [self._of(function, self.given(call, function, starts_at), in_memory) for function in called]
        result = found[0]
        for other in found[1:]:
            result = either(result, other)
        return result

    def given(self, call: FunctionCall, function: Function, starts_at: StartsAt) -> Given:
        """Where those values of a function start that come from outside, if not at their data pointer."""
        passed, captured = (
            self._callees.passed(call, function),
            self._callees.closures.captured(function.name),
        )
        found = (
            (value, starts_at(passed.get(value, AccessPath(value))))
            for value in dict.fromkeys((*function.parameters, *captured))
            if value in passed or value in captured
        )
        return tuple((value, starts) for value, starts in found if not is_zero(starts))

    def inside(self, function: Function, given: Mapping[ValueId, Starts], *, in_memory: bool) -> Offsets:
        """Where the values of a function start that is given this; `in_memory` as in `Offsets`."""
        return Offsets(
            function,
            in_memory=in_memory,
            given=given,
            returned=self.of,
            viewed=partial(self._viewed, function=function),
            kept=self._kept,
            held=self._callees.closures.held(function),
        )

    @cached_property
    def moves(self) -> bool:
        """Whether any tensor of the program starts elsewhere than at its data pointer."""
        made = (op for f in self._functions.values() for op in f.body.of(AllocTensor, View))
        return any(op.offset != 0 for op in made)

    def _prepare(self, functions: tuple[Function, ...], in_memory: bool) -> None:
        """Callees first, for arguments that are not moved: chains of calls may be long."""
        for function in functions:
            if (function.name, (), in_memory) not in self._known:
                for names in components(function.name, self._called):
                    for name in names:
                        self._of(self._functions[name], (), in_memory)

    def _called(self, name: str) -> Iterator[str]:
        for call in self._functions[name].body.of(FunctionCall):
            yield from (function.name for function in self._callees.all_of(call))

    def _of(self, function: Function, given: Given, in_memory: bool) -> Starts:
        key = (function.name, given, in_memory)
        known = self._known.get(key)
        if known is not None:
            return known
        if function.name in self._open:
            # What a recursion adds nothing to starts where the other paths say.
            self._presumed += 1
            return _CHOSEN if given else joined_starts()
        if len(self._open) >= _DEEPEST:
            return _CHOSEN
        before = self._presumed
        self._open.add(function.name)
        starts = self.inside(function, dict(given), in_memory=in_memory).starts(function.result)
        result = known_elsewhere(starts, _CHOSEN)
        self._open.discard(function.name)
        if self._presumed != before and not is_zero(result):
            result = _CHOSEN
        if self._presumed == before or not self._open:
            self._known[key] = result
        return result
