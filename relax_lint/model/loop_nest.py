"""The loops around a statement of a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import sympy

from relax_lint.model.loops import Loops


@dataclass(frozen=True)
class _Loop:
    """`symbol` is None where the loop's range is not known; a `repeated` one visits elements again."""

    symbol: sympy.Symbol | None
    repeated: bool


class LoopNest:
    """The loops that are open, outermost first; inside a block its axes, which represent `outer`."""

    def __init__(self, loops: Loops, outer: LoopNest | None = None) -> None:
        self._loops = loops
        self._outer = outer
        self._open: list[_Loop] = []

    def enter(self, symbol: sympy.Symbol | None, *, repeated: bool = False) -> None:
        """Open a loop for the rest of this nest."""
        self._open.append(_Loop(symbol, repeated))

    @contextmanager
    def inside(self, symbol: sympy.Symbol | None, *, repeated: bool = False) -> Iterator[None]:
        """Open a loop for a while."""
        self.enter(symbol, repeated=repeated)
        yield
        self._open.pop()

    @property
    def depth(self) -> int:
        """How many loops are open, also around a block."""
        return len(self._open) + (0 if self._outer is None else self._outer.depth)

    @property
    def extents(self) -> tuple[sympy.Expr, ...] | None:
        """The extents of all loops; None where the signature does not tell one."""
        known = [loop.symbol for loop in self._open if loop.symbol is not None]
        return self._loops.extents(known) if len(known) == len(self._open) else None

    def visits_once(self, indices: tuple[sympy.Expr | None, ...]) -> bool:
        """Whether no element is stored twice: the indices are exactly the loops."""
        if any(loop.repeated or loop.symbol is None for loop in self._open):
            return False
        symbols = {loop.symbol for loop in self._open if loop.symbol is not None}
        wide = {symbol for symbol in symbols if self._loops.extents([symbol]) != (1,)}
        used = [index for index in indices if index in wide]
        return len(used) == len(set(used)) and set(used) == wide

    def has_steps_for(self, shape: tuple[sympy.Expr, ...] | None) -> bool:
        """Whether every loop, also around a block, has a step whenever a tensor of a shape has elements."""
        extents = self.extents
        if extents is None or shape is None:
            return False
        if self._outer is not None and not self._outer.has_steps_for(shape):
            return False
        return all(extent in shape or (extent.is_Integer and extent > 0) for extent in extents)
