"""At which byte a tensor starts that a function of the program returns.

The body of the function is followed for what it is given.
"""

from __future__ import annotations

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.offsets import Offsets, Starts, either, is_zero, joined_starts
from relax_lint.model.operations import FunctionCall
from relax_lint.model.program import Function
from relax_lint.symbolic.quantity import Unknown

_CHOSEN = Unknown("the function that is called chooses the offset")


class ReturnedOffsets:
    """Where the results of the functions of one program start."""

    def __init__(self, callees: Callees) -> None:
        self._callees = callees
        self._known: dict[tuple[str, tuple[Starts, ...], bool], Starts] = {}
        self._open: set[str] = set()
        self._presumed = 0
        """How often a function was asked for while it was followed."""

    def of(self, call: FunctionCall, given: tuple[Starts, ...], in_memory: bool) -> Starts:
        """Where the result of a call starts whose arguments start at `given`. What a function that is not
        known returns is taken to start at its data pointer.
        """
        found = [self._of(function, given, in_memory) for function in self._callees.all_of(call)]
        result = found[0] if found else joined_starts()
        for other in found[1:]:
            result = either(result, other)
        return result

    def _of(self, function: Function, given: tuple[Starts, ...], in_memory: bool) -> Starts:
        key = (function.name, given, in_memory)
        known = self._known.get(key)
        if known is not None:
            return known
        if function.name in self._open:
            # What a recursion adds nothing to starts where the other paths say.
            self._presumed += 1
            return joined_starts() if all(map(is_zero, given)) else _CHOSEN
        before = self._presumed
        self._open.add(function.name)
        result = self._followed(function, given, in_memory)
        self._open.discard(function.name)
        if self._presumed != before and not is_zero(result):
            result = _CHOSEN
        if self._presumed == before or not self._open:
            self._known[key] = result
        return result

    def _followed(self, function: Function, given: tuple[Starts, ...], in_memory: bool) -> Starts:
        parameters = zip(function.parameters, given, strict=False)
        starts = {value: one for value, one in parameters if not is_zero(one)}
        offsets = Offsets(function, in_memory=in_memory, given=starts, returned=self.of)
        return _outside(offsets.starts(function.result))


def _outside(starts: Starts) -> Starts:
    """What a caller knows of it: the symbols of a function mean nothing there."""
    if isinstance(starts, tuple):
        return tuple(map(_outside, starts))
    return _CHOSEN if not isinstance(starts, Unknown) and starts.free_symbols else starts
