"""At which byte a tensor starts that a function of the program returns.

The body of the function is followed for what it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import TypeAlias

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.components import components
from relax_lint.analysis.dominance import captured_values
from relax_lint.analysis.offsets import (
    Offsets,
    Starts,
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

_Held: TypeAlias = tuple[tuple[ValueId, Starts], ...]


class ReturnedOffsets:
    """Where the results of the functions of one program start; `viewed`, of a function, and `kept` as in
    `Offsets`.
    """

    def __init__(self, callees: Callees, program: Program, viewed: Viewed, *, kept: bool = False) -> None:
        self._callees = callees
        self._viewed = viewed
        self._kept = kept
        self._program = program
        self._functions = {function.name: function for function in program.functions}
        self._captured: dict[str, frozenset[ValueId]] = {}
        self._known: dict[tuple[str, tuple[Starts, ...], _Held, bool], Starts] = {}
        self._open: set[str] = set()
        self._presumed = 0
        """How often a function was asked for while it was followed."""

    def of(
        self,
        call: FunctionCall,
        given: tuple[Starts, ...],
        known: Mapping[ValueId, Starts],
        in_memory: bool,
    ) -> Starts:
        """Where the result of a call starts whose arguments start at `given`. What a function that is not
        known returns may be what it was given. `known` as in `Returned`.
        """
        if not self.moves:
            return joined_starts()
        called, given = self._callees.all_of(call), () if all(map(is_zero, given)) else given
        if not called:
            held = () if call.value is None else (known.get(call.value, joined_starts()),)
            return unless_given((*given, *held), kept=self._kept)
        if not self._open:
            self._prepare(called, in_memory)
        found = [self._of(function, given, self._held(function, known), in_memory) for function in called]
        result = found[0]
        for other in found[1:]:
            result = either(result, other)
        return result

    @cached_property
    def moves(self) -> bool:
        """Whether any tensor of the program starts elsewhere than at its data pointer."""
        made = (op for f in self._functions.values() for op in f.body.of(AllocTensor, View))
        return any(op.offset != 0 for op in made)

    def _prepare(self, functions: tuple[Function, ...], in_memory: bool) -> None:
        """Callees first, for arguments that are not moved: chains of calls may be long."""
        for function in functions:
            if (function.name, (), (), in_memory) not in self._known:
                for names in components(function.name, self._called):
                    for name in names:
                        self._of(self._functions[name], (), (), in_memory)

    def _called(self, name: str) -> Iterator[str]:
        for call in self._functions[name].body.of(FunctionCall):
            yield from (function.name for function in self._callees.all_of(call))

    def _held(self, function: Function, known: Mapping[ValueId, Starts]) -> _Held:
        """Where those values start that an inner function may use of the one that calls it."""
        if not known:
            return ()
        captured = self._captured.get(function.name)
        if captured is None:
            captured = self._captured[function.name] = captured_values(self._program, function)
        return tuple((value, known[value]) for value in sorted(captured & known.keys()))

    def _of(self, function: Function, given: tuple[Starts, ...], held: _Held, in_memory: bool) -> Starts:
        key = (function.name, given, held, in_memory)
        known = self._known.get(key)
        if known is not None:
            return known
        if function.name in self._open:
            # What a recursion adds nothing to starts where the other paths say.
            self._presumed += 1
            return _CHOSEN if given or held else joined_starts()
        if len(self._open) >= _DEEPEST:
            return _CHOSEN
        before = self._presumed
        self._open.add(function.name)
        result = self._followed(function, given, held, in_memory)
        self._open.discard(function.name)
        if self._presumed != before and not is_zero(result):
            result = _CHOSEN
        if self._presumed == before or not self._open:
            self._known[key] = result
        return result

    def _followed(
        self, function: Function, given: tuple[Starts, ...], held: _Held, in_memory: bool
    ) -> Starts:
        parameters = zip(function.parameters, given, strict=False)
        starts = {value: one for value, one in (*parameters, *held) if not is_zero(one)}
        viewed = partial(self._viewed, function=function)
        offsets = Offsets(
            function, in_memory=in_memory, given=starts, returned=self.of, viewed=viewed, kept=self._kept
        )
        return known_elsewhere(offsets.starts(function.result), _CHOSEN)
