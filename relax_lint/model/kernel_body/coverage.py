"""Which parameters a kernel writes as a whole, and which it reads before it has written what it reads."""

from __future__ import annotations

from collections.abc import Sequence

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.flat_positions import flat_position
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.strides import covered, linear
from relax_lint.model.kernel_body.touches import Touch, common_loops

Shape = tuple[sympy.Expr, ...]


class Coverage:
    """What the stores of a kernel are certain to fill."""

    def __init__(self, touches: Sequence[Touch], shapes: Sequence[Shape | None], loops: Loops) -> None:
        self._touches = touches
        self._shapes = shapes
        self._loops = loops
        self._stores: dict[int, list[Touch]] = {}
        for touch in touches:
            if touch.writes and touch.certain:
                self._stores.setdefault(touch.parameter, []).append(touch)

    # -- the whole of a parameter --------------------------------------------------------------

    def whole(self, parameter: int) -> Boolean:
        """When a call is certain to write every element of a parameter."""
        return self._filled(parameter, self._stores.get(parameter, ()))

    def _filled(self, parameter: int, stores: Sequence[Touch]) -> Boolean:
        shape = self._shapes[parameter]
        if shape is None or not stores:
            return sympy.false
        if any(self._is_plain(store, shape) for store in stores):
            return sympy.true
        count = sympy.expand(sympy.Mul(*shape))
        spans = [span for store in stores if (span := self._span(store)) is not None]
        alone = [self._if_alone(span, count) for span in spans]
        if sympy.true in alone or self._in_a_row(spans, count):
            return sympy.true
        found = sympy.Or(*alone)
        return found if found in (sympy.true, sympy.false) else sympy.Or(found, count <= 0)

    def _is_plain(self, store: Touch, shape: Shape) -> bool:
        """Whether the indices of a store are nothing but loops over the axes."""
        symbols, indices = store.symbols, store.indices
        if symbols is None or set(symbols) != set(indices) or not len(symbols) == len(indices) == len(shape):
            return False
        ranges = [self._loops.range_of(index) for index in indices if index is not None]
        return all(
            reached is not None and reached.first == 0 and reached.extent == extent
            for reached, extent in zip(ranges, shape, strict=True)
        )

    def _if_alone(self, span: tuple[sympy.Expr, sympy.Expr, Boolean], count: sympy.Expr) -> Boolean:
        start, size, steps = span
        room = sympy.expand(start + size - count)
        enough = sympy.true if room == 0 else sympy.Ge(start + size, count)
        return sympy.And(enough, sympy.Le(start, 0), steps)

    def _in_a_row(self, spans: list[tuple[sympy.Expr, sympy.Expr, Boolean]], count: sympy.Expr) -> bool:
        """Whether some stores fill the parameter one behind the other."""
        end, pending = sympy.Integer(0), [span for span in spans if span[2] == sympy.true]
        while pending:
            following = next((span for span in pending if sympy.expand(span[0] - end) == 0), None)
            if following is None:
                return False
            pending.remove(following)
            end = sympy.expand(end + following[1])
            if sympy.expand(end - count) == 0:
                return True
        return False

    def _span(self, store: Touch) -> tuple[sympy.Expr, sympy.Expr, Boolean] | None:
        """The elements in a row that a store fills: the first, how many, and that other loops have steps."""
        indices, symbols = store.known_indices, store.symbols
        if indices is None or symbols is None or store.shape is None:
            return None
        position = flat_position(indices, store.shape, self._loops)
        found = None if position is None else linear(position, symbols, self._loops)
        size = None if found is None else covered(found)
        if found is None or size is None:
            return None
        used = {stride.symbol for stride in found.strides}
        steps = []
        for loop in store.loops:
            if loop.symbol in used:
                continue
            if loop.extent is None or not self._loops.in_signature(loop.extent):
                return None
            if loop.extent not in store.shape:
                # Without a step there is no element.
                steps.append(sympy.Ge(loop.extent, 1))
        return found.start, size, sympy.And(*steps)

    # -- loads of what was there before the call -----------------------------------------------

    def is_read(self, parameter: int) -> bool:
        """Whether a load may see what a parameter held before the call."""
        if parameter not in self._stores:
            return any(not touch.writes and touch.parameter == parameter for touch in self._touches)
        loads = [touch for touch in self._touches if not touch.writes and touch.parameter == parameter]
        return any(not self._written_before(load) for load in loads)

    def _written_before(self, load: Touch) -> bool:
        stores = [store for store in self._stores.get(load.parameter, ()) if store.order < load.order]
        if any(self._same_element(load, store) for store in stores):
            return True
        done = [store for store in stores if set(store.loops).isdisjoint(load.loops)]
        return self._filled(load.parameter, done) == sympy.true or self._carried(load)

    def _same_element(self, load: Touch, store: Touch) -> bool:
        """Whether a store that comes first in each step of the loops around both fills what is loaded."""
        one, other = load.known_indices, store.known_indices
        if one is None or other is None or load.shape != store.shape:
            return False
        shared = {loop.symbol for loop in common_loops(load, store)}
        inner = {loop.symbol for loop in store.loops} - shared
        if None in shared | inner:
            return False
        met: set[sympy.Symbol] = set()
        for loaded, stored in zip(one, other, strict=True):
            if loaded == stored and not stored.free_symbols & inner:
                continue
            if stored not in inner or stored in met or not self._within(loaded, stored):
                return False
            met.add(stored)
        # A loop that the position does not tell must have a step.
        rest = [loop for loop in store.loops if loop.symbol in inner - met]
        return all(loop.extent is not None and loop.extent.is_Integer and loop.extent > 0 for loop in rest)

    def _within(self, loaded: sympy.Expr, stored: sympy.Symbol) -> bool:
        """Whether an index is one of those that a loop variable runs over."""
        here, there = self._loops.range_of(loaded), self._loops.range_of(stored)
        if here is None or there is None:
            return False
        below = sympy.expand(here.first - there.first)
        above = sympy.expand(there.last - here.last)
        return self._loops.is_not_negative(below) and self._loops.is_not_negative(above)

    def _carried(self, load: Touch) -> bool:
        """Whether each step of a loop loads what the step before stored, the first one what stood there."""
        return any(
            self._stored_a_step_before(load, store)
            for store in self._stores.get(load.parameter, ())
            if store.order > load.order and store.loops == load.loops and store.loops
        )

    def _stored_a_step_before(self, load: Touch, store: Touch) -> bool:
        symbol, one, other = load.loops[-1].symbol, load.known_indices, store.known_indices
        if (
            symbol is None
            or not load.loops[-1].serial
            or one is None
            or other is None
            or load.shape != store.shape
        ):
            return False
        if any(
            loaded.xreplace({symbol: symbol + 1}) != stored for loaded, stored in zip(one, other, strict=True)
        ):
            return False
        reached = self._loops.range_of(symbol)
        if reached is None:
            return False
        first = Touch(
            load.parameter,
            tuple(index.xreplace({symbol: reached.first}) for index in one),
            load.shape,
            load.loops[:-1],
            # What the loop itself stores in other steps is not there yet in the first one.
            min(touch.order for touch in self._touches if load.loops[-1] in touch.loops),
            load.guards,
            writes=False,
        )
        return self._written_before(first)
