"""Which parameters a kernel writes as a whole, and which it reads before it has written what it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import lcm

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.conditions import Below, in_digits, selected
from relax_lint.model.kernel_body.fills import fill_of, in_a_row, merged
from relax_lint.model.kernel_body.flat_positions import flat_position
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.strides import linear
from relax_lint.model.kernel_body.touches import Touch, common_loops
from relax_lint.model.kernel_parts import Fill
from relax_lint.symbolic.functions import FloorDiv, FloorMod

Shape = tuple[sympy.Expr, ...]

_MAX_CASES = 32


class Coverage:
    """What the stores of a kernel are certain to fill."""

    def __init__(self, touches: Sequence[Touch], shapes: Sequence[Shape | None], loops: Loops) -> None:
        self._touches = touches
        self._shapes = shapes
        self._loops = loops
        self._stores: dict[int, list[Touch]] = {}
        for touch in touches:
            if touch.writes and touch.conditions is not None:
                self._stores.setdefault(touch.parameter, []).append(touch)

    # -- the whole of a parameter --------------------------------------------------------------

    def whole(self, parameter: int) -> Boolean:
        """When a call is certain to write every element of a parameter."""
        return self._filled(parameter, self._stores.get(parameter, ()))

    def fills(self, parameter: int) -> list[Fill]:
        """What of a parameter a call is certain to write, as far as that is in blocks."""
        return self._fills(self._stores.get(parameter, ()))

    def _fills(self, stores: Sequence[Touch]) -> list[Fill]:
        return [fill for store in stores if (fill := self._fill(store)) is not None]

    def _filled(self, parameter: int, stores: Sequence[Touch]) -> Boolean:
        shape = self._shapes[parameter]
        if shape is None:
            return sympy.false
        if any(self._is_plain(store, shape) for store in stores):
            return sympy.true
        count = sympy.expand(sympy.Mul(*shape))
        fills = self._fills(stores)
        found = self._together(fills, count)
        if found != sympy.true and all(
            self._together(*case) == sympy.true for case in self._cases(fills, count)
        ):
            return sympy.true
        return found if found in (sympy.true, sympy.false) else sympy.Or(found, count <= 0)

    def _is_plain(self, store: Touch, shape: Shape) -> bool:
        """Whether the indices of a store are nothing but loops over the axes, one for each axis of more than
        one element, and all other loops have a step.
        """
        symbols, indices = store.symbols, store.indices
        if not store.certain or symbols is None or len(indices) != len(shape):
            return False
        others = set(symbols)
        for index, extent in zip(indices, shape, strict=True):
            if index == 0 and extent == 1:
                continue
            reached = self._loops.range_of(index) if index in others else None
            if index is None or reached is None or reached.first != 0 or reached.extent != extent:
                return False
            others.remove(index)
        return all(self._has_a_step(symbol) for symbol in others)

    def _has_a_step(self, symbol: sympy.Symbol) -> bool:
        reached = self._loops.range_of(symbol)
        return reached is not None and bool(reached.extent.is_Integer and reached.extent >= 1)

    def _together(self, fills: Sequence[Fill], count: sympy.Expr) -> Boolean:
        """When some fills cover so many elements."""
        blocks = [fill for fill in merged(fills, self._loops) if not fill.repeats]
        alone = [self._if_alone(fill, count) for fill in blocks]
        if sympy.true in alone or in_a_row(blocks, count):
            return sympy.true
        return sympy.Or(*alone)

    def _if_alone(self, fill: Fill, count: sympy.Expr) -> Boolean:
        room = sympy.expand(fill.start + fill.block - count)
        enough = sympy.true if room == 0 else sympy.Ge(fill.start + fill.block, count)
        return sympy.And(enough, sympy.Le(fill.start, 0), fill.steps)

    def _cases(self, fills: Sequence[Fill], count: sympy.Expr) -> Iterator[tuple[list[Fill], sympy.Expr]]:
        """The same question for each remainder of the extents that are divided."""
        divisors: dict[sympy.Symbol, int] = {}
        for fill in fills:
            values = (fill.start, *(repeat.trips for repeat in fill.repeats), fill.block)
            for division in (found for value in values for found in value.atoms(FloorDiv, FloorMod)):
                inner, divisor = division.args
                if divisor.is_Integer and divisor > 0:
                    for symbol in inner.free_symbols:
                        divisors[symbol] = lcm(divisors.get(symbol, 1), int(divisor))
        total = sympy.Mul(*divisors.values())
        if not divisors or total > _MAX_CASES:
            yield [], sympy.Integer(1)
            return
        symbols = sorted(divisors, key=str)
        remainders = [list(self._loops.residues(symbol, divisors[symbol])) for symbol in symbols]
        for values in product(*remainders):
            mapping = dict(zip(symbols, values, strict=True))
            yield [_with(fill, mapping) for fill in fills], sympy.expand(count.xreplace(mapping))

    def _fill(self, store: Touch) -> Fill | None:
        """What a store fills."""
        indices, symbols = store.known_indices, store.symbols
        if indices is None or symbols is None:
            return None
        assert store.shape is not None
        assert store.conditions is not None
        loops = tuple((symbol, loop.extent) for symbol, loop in zip(symbols, store.loops, strict=True))
        asked = [one for one in store.conditions if not _says_not_empty(one, store.shape)]
        chosen = selected(indices, loops, asked, self._loops)
        if chosen is None:
            return None
        chosen = in_digits(chosen, self._loops)
        position = flat_position(chosen.indices, store.shape, self._loops)
        assert position is not None
        found = linear(position, [symbol for symbol, _ in chosen.steps], self._loops)
        if found is None:
            return None
        used = {stride.symbol for stride in found.strides}
        steps = []
        for symbol, extent in chosen.steps:
            if symbol in used:
                continue
            assert extent is not None
            if not self._loops.in_signature(extent):
                return None
            if extent not in store.shape:
                # Without a step there is no element.
                steps.append(sympy.Ge(extent, 1))
        return fill_of(found, sympy.And(*steps))

    # -- loads of what was there before the call -----------------------------------------------

    def is_read(self, parameter: int) -> bool:
        """Whether a load may see what a parameter held before the call."""
        loads = [touch for touch in self._touches if not touch.writes and touch.parameter == parameter]
        return any(not self._written_before(load) for load in loads)

    def _written_before(self, load: Touch) -> bool:
        stores = [store for store in self._stores.get(load.parameter, ()) if store.order < load.order]
        if any(self._reached_with(load, store) and self._same_element(load, store) for store in stores):
            return True
        done = [store for store in stores if set(store.loops).isdisjoint(load.loops)]
        return self._filled(load.parameter, done) == sympy.true or self._carried(load)

    def _same_element(self, load: Touch, store: Touch) -> bool:
        """Whether a store that comes first in each step of the loops around both fills what is loaded."""
        one, other = load.known_indices, store.known_indices
        if one is None or other is None:
            return False
        shared = {loop.symbol for loop in common_loops(load, store)}
        inner = {loop.symbol for loop in store.loops} - shared
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
            self._stored_a_step_before(load, store, place)
            for store in self._stores.get(load.parameter, ())
            if store.certain and store.order > load.order and store.loops == load.loops
            for place in range(len(store.loops))
        )

    def _stored_a_step_before(self, load: Touch, store: Touch, place: int) -> bool:
        loop, inner = load.loops[place], load.loops[place + 1 :]
        symbol, one, other = loop.symbol, load.known_indices, store.known_indices
        if not loop.serial or symbol is None or one is None or other is None:
            return False
        if any(one.symbol is None or self._loops.range_of(one.symbol) is None for one in inner):
            # The steps of these are not known to be the same in each step of the loop.
            return False
        if any(
            loaded.xreplace({symbol: symbol + 1}) != stored for loaded, stored in zip(one, other, strict=True)
        ):
            return False
        reached = self._loops.range_of(symbol)
        if reached is None:
            return False
        known = load.conditions or ()
        if self._follows(Below(-symbol, -reached.first), known):
            # The first step does not load.
            return True
        if inner:
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
            # There is a first step.
            conditions=(
                *(one for one in known if symbol not in one.value.free_symbols),
                Below(sympy.Integer(0), reached.extent),
            ),
        )
        return self._written_before(first)

    def _reached_with(self, load: Touch, store: Touch) -> bool:
        """Whether a store is reached in every step of the loops around both in which the load is."""
        if not store.conditions:
            return store.certain
        shared = {loop.symbol for loop in common_loops(load, store)}
        asked = {symbol for one in store.conditions for symbol in one.value.free_symbols}
        return asked <= shared and all(self._follows(one, load.conditions or ()) for one in store.conditions)

    def _follows(self, asked: Below, known: Sequence[Below]) -> bool:
        """Whether a condition holds wherever all that are known do."""
        return any(
            one.value == asked.value and self._loops.is_not_negative(asked.limit - one.limit) for one in known
        )


def _says_not_empty(asked: Below, shape: Shape) -> bool:
    """Whether a condition is that an axis has elements: without any there is nothing to fill."""
    return asked.value.is_Integer and sympy.expand(asked.limit - asked.value) in shape


def _with(fill: Fill, mapping: dict[sympy.Symbol, sympy.Expr]) -> Fill:
    """A fill with expressions in place of symbols."""
    repeats = tuple(
        replace(
            repeat,
            distance=sympy.expand(repeat.distance.xreplace(mapping)),
            trips=sympy.expand(repeat.trips.xreplace(mapping)),
        )
        for repeat in fill.repeats
    )
    return Fill(
        sympy.expand(fill.start.xreplace(mapping)),
        sympy.expand(fill.block.xreplace(mapping)),
        tuple(repeat for repeat in repeats if repeat.trips != 1),
        fill.steps.xreplace(mapping),
    )
