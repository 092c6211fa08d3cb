"""May a parameter that is read be the same memory as one that is written?

It may, as the kernel is written, when no element is loaded after a store of an other value to it. Two touches
of one element happen in the same step of the loops around both when their position tells these steps apart;
then the order of the text decides. Nothing is asked of the order in which the steps come.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from relax_lint.model.kernel_body.flat_positions import flat_position
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.strides import linear, told_apart
from relax_lint.model.kernel_body.touches import Loop, Touch, common_loops
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Order:
    """`kept`: each element is loaded before it is overwritten. `together`: in the very step that overwrites
    it, whatever the order of the steps.
    """

    kept: bool
    together: bool


class Dependences:
    """The loads and stores of one kernel, pair by pair."""

    def __init__(self, touches: Sequence[Touch], loops: Loops) -> None:
        self._loads: dict[int, list[Touch]] = {}
        self._stores: dict[int, list[Touch]] = {}
        for touch in touches:
            side = self._stores if touch.writes else self._loads
            side.setdefault(touch.parameter, []).append(touch)
        self._loops = loops

    @property
    def read(self) -> list[int]:
        """The parameters that are loaded from."""
        return sorted(self._loads)

    @property
    def written(self) -> list[int]:
        """The parameters that are stored to."""
        return sorted(self._stores)

    def order(self, read: int, written: int, *, same_width: bool) -> Order:
        """How the loads of one parameter stand to the stores to another one on the same memory."""
        together = True
        for store in self._stores.get(written, ()):
            if store.joined or store.copied == read:
                continue
            for load in self._loads.get(read, ()):
                if load.order > store.order or load.outside or store.outside:
                    return Order(False, False)
                shared = common_loops(load, store)
                if shared and not (same_width and self._same_step(load, store, shared)):
                    return Order(False, False)
                together &= len(shared) == len(load.loops) == len(store.loops)
        return Order(True, together)

    def _same_step(self, load: Touch, store: Touch, shared: tuple[Loop, ...]) -> bool:
        """Whether touches of one element are made in the same step of the loops around both."""
        symbols = [loop.symbol for loop in shared if loop.symbol is not None]
        if len(symbols) < len(shared):
            return False
        wide = {symbol for symbol in symbols if not self._one_step(symbol)}
        return wide <= self._told_by_axes(load, store, symbols) or wide <= self._told(load, store, symbols)

    def _one_step(self, symbol: sympy.Symbol) -> bool:
        reached = self._loops.range_of(symbol)
        return reached is not None and bool(reached.extent == 1)

    def _told_by_axes(self, load: Touch, store: Touch, shared: list[sympy.Symbol]) -> set[sympy.Symbol]:
        """The loops that equal indices on the same axis tell."""
        one, other = load.known_indices, store.known_indices
        if one is None or other is None:
            return set()
        assert load.shape is not None
        assert store.shape is not None
        if (
            len(one) != len(other)
            or load.shape[1:] != store.shape[1:]
            or not (self._in_rows(load) and self._in_rows(store))
        ):
            return set()
        told: set[sympy.Symbol] = set()
        for a, b in zip(one, other, strict=True):
            if a == b:
                told |= self._told_by(a, shared)
        return told

    def _told(self, load: Touch, store: Touch, shared: list[sympy.Symbol]) -> set[sympy.Symbol]:
        """The loops that equal distances from the start tell."""
        one, other = load.known_indices, store.known_indices
        if one is None or other is None:
            return set()
        assert load.shape is not None
        assert store.shape is not None
        here = flat_position(one, load.shape, self._loops)
        assert here is not None
        if here != flat_position(other, store.shape, self._loops):
            return set()
        return self._told_by(here, shared)

    def _told_by(self, position: sympy.Expr, shared: list[sympy.Symbol]) -> set[sympy.Symbol]:
        if position.is_Symbol:
            return {position}.intersection(shared)
        # A variable of a loop around only one of them would stand for two values.
        found = linear(position, shared, self._loops)
        return told_apart(found, self._loops) if found is not None else set()

    def _in_rows(self, touch: Touch) -> bool:
        """Whether no index but the first runs over its axis, so that equal positions are equal indices."""
        assert touch.shape is not None
        return all(
            self._loops.is_inside(index, extent)
            for index, extent in zip(touch.indices[1:], touch.shape[1:], strict=True)
        )
