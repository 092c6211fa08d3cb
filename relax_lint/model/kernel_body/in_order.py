"""In which order a kernel stores and loads: what a part stores nobody reads where a later part stores all of
it anew before anybody loads from there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, TypeAlias

import sympy

from relax_lint.model.kernel_body.coverage import Coverage
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.touches import Touch

Moment: TypeAlias = "tuple[int, int, int]"
"""How many stores, loads and acts came before."""
Reach: TypeAlias = "tuple[tuple[sympy.Expr, sympy.Expr] | None, ...] | None"
"""Of each axis the first and the last element that a store comes to, None where that is not known."""


class Order:
    """The stores of a walk over a body, and the memory of its loads: positions of parameters, and variables
    of own buffers.
    """

    def __init__(self, loops: Loops) -> None:
        self._loops = loops
        self._stores: list[Hashable] = []
        self._touches: dict[Hashable, list[tuple[int, Touch]]] = {}
        """By memory, each with its number among all stores."""
        self._loaded: list[Hashable] = []
        self._acts = 0

    @property
    def now(self) -> Moment:
        """This point of the walk."""
        return len(self._stores), len(self._loaded), self._acts

    def store(self, memory: Hashable, touch: Touch) -> None:
        """A store comes next."""
        self._touches.setdefault(memory, []).append((len(self._stores), touch))
        self._stores.append(memory)

    def load(self, memory: Hashable) -> None:
        """A load, or something else that may look at that memory, comes next."""
        self._loaded.append(memory)

    def act(self) -> None:
        """Something comes next that does more than to store."""
        self._acts += 1

    def has_acted(self, since: Moment) -> bool:
        """Whether that came."""
        return self._acts > since[2]

    def stored(self, since: Moment, until: Moment | None = None) -> set[Hashable]:
        """The memory to which something was stored."""
        return set(self._stores[since[0] : None if until is None else until[0]])

    def stored_anew(self, start: Moment, middle: Moment, depth: int, guards: int) -> set[Hashable]:
        """The memory of which all that was stored from `start` to `middle` was stored again since, whatever
        the data is, where so many loops and conditions are around.
        """
        return {
            memory
            for memory in self.hides(middle)
            if self._covers(memory, start[0], middle[0], depth, guards)
        }

    def reached(self, since: Moment) -> dict[Hashable, list[Reach]]:
        """To which elements of which memory something was stored."""
        return {
            memory: [self._reach(touch) for _, touch in self._from(memory, since)]
            for memory in self.stored(since)
        }

    def hides(self, since: Moment) -> set[Hashable]:
        """The memory to which something was stored while nobody looked at it; none after an act."""
        return set() if self.has_acted(since) else self.stored(since).difference(self._loaded[since[1] :])

    def _from(self, memory: Hashable, start: Moment) -> list[tuple[int, Touch]]:
        stores = self._touches[memory]
        return stores[bisect_left(stores, start[0], key=itemgetter(0)) :]

    def _reach(self, touch: Touch) -> Reach:
        indices = touch.known_indices
        return None if indices is None else tuple(self._ends(index, touch) for index in indices)

    def _ends(self, index: sympy.Expr, touch: Touch) -> tuple[sympy.Expr, sympy.Expr] | None:
        """The first and the last number of an index, where it is that of a loop and a number."""
        symbols = [loop.symbol for loop in touch.loops if loop.symbol in index.free_symbols]
        if not symbols:
            return index, index
        ends = self._loops.written_range_of(symbols[0])
        if len(symbols) > 1 or ends is None or (index - symbols[0]).has(symbols[0]):
            return None
        return index.subs(symbols[0], ends.first), index.subs(symbols[0], ends.last)

    def _covers(self, memory: Hashable, start: int, middle: int, depth: int, guards: int) -> bool:
        stores = self._touches[memory]
        first, last = (bisect_left(stores, number, key=itemgetter(0)) for number in (start, middle))
        if first == last:
            return False
        after = [touch for _, touch in stores[last:] if touch.guards == guards]
        anew = {self._place(touch, depth, needs_steps=True) for touch in after} - {None}
        if not anew:
            return False
        before = (touch for _, touch in stores[first:last])
        if all(self._place(touch, depth, needs_steps=False) in anew for touch in before):
            return True
        return not (depth or guards) and self._is_whole(after)

    def _is_whole(self, touches: Sequence[Touch]) -> bool:
        if touches[0].shape is None:
            return False
        given = [replace(touch, parameter=0) for touch in touches]
        return bool(Coverage(given, [touches[0].shape], self._loops).whole(0) == sympy.true)

    def _place(self, touch: Touch, depth: int, *, needs_steps: bool) -> Any:
        """Which elements a store comes to, in a form in which it does not matter how the loops inside are
        called; None where that is not known, or where one of them may have no step.
        """
        indices = touch.known_indices
        if indices is None:
            return None
        inner = touch.loops[depth:]
        used = [symbol for index in indices for symbol in sorted(index.free_symbols, key=str)]
        names: dict[Any, sympy.Expr] = {}
        for symbol in dict.fromkeys(used):
            if any(loop.symbol == symbol for loop in inner):
                names[symbol] = sympy.Symbol(f"#{len(names)}", integer=True)
        ranges = []
        for symbol in names:
            reached = self._loops.written_range_of(symbol)
            if reached is None or any(
                loop.symbol in (reached.first.free_symbols | reached.last.free_symbols) for loop in inner
            ):
                return None
            ranges.append((reached.first, reached.last))
        rest = [loop for loop in inner if loop.symbol not in names]
        if needs_steps and not all(
            loop.extent is not None and loop.extent.is_Integer and loop.extent > 0 for loop in rest
        ):
            return None
        return tuple(index.xreplace(names) for index in indices), tuple(ranges)
