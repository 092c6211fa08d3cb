"""Loads and stores of a kernel, with the loops around them and the order in which they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.conditions import Below
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.steps import has_step


@record(frozen=True, eq=False)
class Loop:
    """One loop around a statement: `extent` as it is written, `symbol` for what counts its steps. Both are
    None where they are not known. The steps of a `serial` one come one after the other.
    """

    symbol: sympy.Symbol | None
    extent: sympy.Expr | None
    serial: bool = False


@record(frozen=True, eq=False)
class Touch:
    """A load from or a store to a parameter.

    `order` rises in the order of the text, a value's loads before its store. `guards` counts the conditions
    and possible ways out before it; without any it is made in every step of its loops. `conditions` are what
    they all ask, None where that is not known. `copied` is the
    parameter of which a store stores the element at the same distance from the start, as it is. A `joined`
    one stands for a store that is made in both branches of a condition; an `outside` one is made by something
    that the kernel calls.
    """

    parameter: int
    indices: tuple[sympy.Expr | None, ...]
    shape: tuple[sympy.Expr, ...] | None
    loops: tuple[Loop, ...]
    order: int
    guards: int
    writes: bool
    copied: int | None = None
    joined: bool = False
    outside: bool = False
    conditions: tuple[Below, ...] | None = None

    @property
    def certain(self) -> bool:
        """Whether it is made in every step of its loops."""
        return not self.guards

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...] | None:
        """The symbols of the loops; None where one is not known."""
        known = [loop.symbol for loop in self.loops if loop.symbol is not None]
        return tuple(known) if len(known) == len(self.loops) else None

    @property
    def known_indices(self) -> tuple[sympy.Expr, ...] | None:
        """The indices, where all are known and there is one for each axis."""
        known = tuple(index for index in self.indices if index is not None)
        fits = self.shape is not None and len(known) == len(self.indices) == len(self.shape)
        return known if fits else None


def stays(parameter: int, touches: Sequence[Touch]) -> bool:
    """Whether what is computed from a parameter is still there in the end: in the order of the text every
    store to a tensor but the first one adds to what it holds, and to the parameter itself there is only one.
    The branches of one condition are one store where each step of the loops has an element of its own.
    """
    places = Counter[int]()
    for touch in touches:
        if touch.writes and touch.joined:
            places[touch.parameter] -= _is_own(touch)
        elif touch.writes and (touch.parameter == parameter or not _adds(touch, touches, places)):
            # Where steps have the same element, that of the last one stays.
            places[touch.parameter] += 1 if _is_own(touch) or _in_each(touch, parameter, touches) else 2
    return all(count <= 1 for count in places.values())


def _is_own(store: Touch) -> bool:
    """Whether the variable of each loop tells the elements apart that are stored."""
    shown = {symbol for index in store.indices if index is not None for symbol in index.free_symbols}
    return store.symbols is not None and shown.issuperset(store.symbols)


def _in_each(store: Touch, parameter: int, touches: Sequence[Touch]) -> bool:
    """Whether each step that stores also loads from the parameter what it loads for that."""
    return all(
        one.writes or one.parameter != parameter or one.order > store.order or one.guards <= store.guards
        for one in touches
        if common_loops(one, store) == store.loops
    )


def _adds(store: Touch, touches: Sequence[Touch], places: Counter[int]) -> bool:
    """Whether a store that is not the first one loads its element itself before."""
    return bool(places[store.parameter]) and any(
        not one.writes
        and one.order < store.order
        and (one.parameter, one.indices, one.loops, one.guards)
        == (store.parameter, store.indices, store.loops, store.guards)
        for one in touches
    )


def common_loops(one: Touch, other: Touch) -> tuple[Loop, ...]:
    """The loops around both."""
    shared = []
    for a, b in zip(one.loops, other.loops, strict=False):
        if a is not b:
            break
        shared.append(a)
    return tuple(shared)


def has_steps_inside(memory: Any, touches: Sequence[Touch], depth: int) -> Boolean:
    """When a store to a parameter is made, by the loops around it but for the outermost `depth`; of other
    memory nothing is known here.
    """
    stores = [one for one in touches if one.writes and one.parameter == memory]
    if not stores:
        return sympy.true
    return sympy.Or(
        *(
            sympy.And(
                *(sympy.false if one.extent is None else has_step(one.extent) for one in store.loops[depth:])
            )
            for store in stores
        )
    )


def has_steps_for(nest: tuple[Loop, ...], shape: tuple[Any, ...] | None) -> bool:
    """Whether every loop has a step whenever a tensor of a shape has elements."""
    if shape is None:
        return False
    return all(
        loop.extent is not None and (loop.extent in shape or (loop.extent.is_Integer and loop.extent > 0))
        for loop in nest
    )
