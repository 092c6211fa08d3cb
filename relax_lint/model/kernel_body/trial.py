"""A kernel carried out on small numbers: does it give other results where its arguments share memory, and
which of them does it fill?

Numbers are Python's; a function such as `exp` is any function that is not its own inverse or repetition. No
code is run but this. A body that does anything else than loop, choose, load, compute and store is declined.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import sympy

from relax_lint.model.kernel_body.cells import ENDS_A_TRIAL, Declined, Frame, Memory
from relax_lint.model.kernel_body.compiling import Compiler
from relax_lint.model.kernel_body.slices import repeated_symbols
from relax_lint.vm import nodes

Extents: TypeAlias = tuple[sympy.Expr, ...]

MAX_STEPS = 20_000
_MAX_ELEMENTS = 20_000
_CONTENTS = ((-50, 50), (1, 50), (-50, -1), (-50, 50))
"""Between what numbers the contents lie, in each trial."""
_CLOSE = 1e-6


@dataclass(frozen=True)
class Sharing:
    """The parameter `written` starts `distance` elements behind the parameter `other`."""

    written: int
    other: int
    distance: int


@dataclass
class Trial:
    """One PrimFunc. `symbols` are what its variables are called elsewhere."""

    prim_func: Any
    shapes: Sequence[Extents | None]
    symbols: Mapping[Any, sympy.Symbol]
    _body: Any = field(default=None, init=False)

    def differs(
        self, values: Mapping[sympy.Symbol, int], written: int, other: int, distance: int
    ) -> bool | None:
        """Whether what the kernel writes is different on shared memory, whatever the contents; None where
        that was not found out. It is not where the kernel says that its arguments lie apart: the compiler may
        then change the order of its loads and stores.
        """
        sharing = Sharing(written, other, distance)
        try:
            if nodes.says_no_alias(self.prim_func):
                return None
            shapes = [None if shape is None else _numbers(shape, values) for shape in self.shapes]
            if self._body is None:
                self._body = Compiler().statement(self.prim_func.body)
            return all(self._differs(seed, values, shapes, sharing) for seed in range(len(_CONTENTS)))
        except ENDS_A_TRIAL:
            return None

    @property
    def filled(self) -> frozenset[int]:
        """The parameters of which every element is written, where all have a known size and nothing that they
        hold decides that.
        """
        return frozenset(position for position, is_full in self._carried_out.items() if is_full)

    @property
    def left(self) -> frozenset[int]:
        """The parameters of which some element is not written, in the same cases."""
        return frozenset(position for position, is_full in self._carried_out.items() if not is_full)

    @cached_property
    def _carried_out(self) -> Mapping[int, bool]:
        """Whether every element of a parameter is written, by its position."""
        shapes = [shape for shape in self.shapes if shape]
        if len(shapes) < len(self.shapes) or any(not e.is_Integer for shape in shapes for e in shape):
            return {}
        try:
            memories = [_Marked(_numbers(shape, {})) for shape in shapes]
            body = Compiler().statement(self.prim_func.body)
            body(Frame({}, dict(zip(self.prim_func.params, memories, strict=True)), MAX_STEPS))
        except ENDS_A_TRIAL:
            return {}
        return {position: memory.is_full for position, memory in enumerate(memories)}

    def repeated(self, written: int, other: int) -> frozenset[sympy.Symbol]:
        """The symbols whose values only say how often the kernel does the same, where the two parameters
        start at one byte.
        """
        return repeated_symbols(self.prim_func, self.symbols, written, other)

    def _differs(
        self,
        seed: int,
        values: Mapping[sympy.Symbol, int],
        shapes: list[tuple[int, ...] | None],
        sharing: Sharing,
    ) -> bool:
        apart, shared = (
            self._memories(seed, shapes, sharing, False),
            self._memories(seed, shapes, sharing, True),
        )
        for memories in (apart, shared):
            buffers = {
                var: memory
                for var, memory in zip(self.prim_func.params, memories, strict=True)
                if memory is not None
            }
            scalars = {var: values[symbol] for var, symbol in self.symbols.items() if symbol in values}
            self._body(Frame(scalars, buffers, MAX_STEPS))
        one, other = apart[sharing.written], shared[sharing.written]
        assert one is not None
        assert other is not None
        return not _alike(one.contents(), other.contents())

    def _memories(
        self, seed: int, shapes: list[tuple[int, ...] | None], sharing: Sharing, shared: bool
    ) -> list[Memory | None]:
        """The parameters with contents. Also apart, what lies on one place holds the same."""
        chance = random.Random(seed)
        found: list[Memory | None] = []
        for shape in shapes:
            count = 0 if shape is None else math.prod(shape)
            cells = [float(chance.randint(*_CONTENTS[seed])) for _ in range(count)]
            found.append(None if shape is None else Memory(cells, 0, shape))
        written, other = found[sharing.written], found[sharing.other]
        if written is None or other is None:
            raise Declined
        low = min(0, sharing.distance)
        length = max(other.count, sharing.distance + written.count) - low
        cells = [float(chance.randint(*_CONTENTS[seed])) for _ in range(length)]
        for position, start in ((sharing.written, sharing.distance - low), (sharing.other, -low)):
            memory = found[position]
            assert memory is not None
            found[position] = Memory(cells if shared else list(cells), start, memory.shape)
        return found


def _numbers(shape: Extents, values: Mapping[sympy.Symbol, int]) -> tuple[int, ...]:
    """The extents of a buffer. Raises `Declined` where there are none, or too many elements."""
    extents = tuple(_value(extent, values) for extent in shape)
    if min(extents, default=0) < 0 or math.prod(extents) > _MAX_ELEMENTS:
        raise Declined
    return extents


def _value(extent: sympy.Expr, values: Mapping[sympy.Symbol, int]) -> int:
    # Most are a number or a symbol, and a substitution takes longer than to carry a small kernel out.
    if extent.is_Integer:
        return int(extent)
    known = values.get(extent)
    return int(extent.subs(values)) if known is None else known


class _Marked(Memory):
    """A buffer of contents that nothing is known of, which knows what was stored."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__(_Cells([1.0] * math.prod(shape)), 0, shape)

    @property
    def is_full(self) -> bool:
        """Whether something was stored in each cell."""
        assert isinstance(self.cells, _Cells)
        return len(self.cells.stored) == self.count


class _Cells(list[float]):
    """Cells that remember which of them were set."""

    def __init__(self, cells: Sequence[float]) -> None:
        super().__init__(cells)
        self.stored: set[int] = set()

    def __setitem__(self, position: Any, number: Any) -> None:
        # What is stored is of contents for whoever loads it.
        self.stored.add(position)
        super().__setitem__(position, float(number))


def _alike(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=_CLOSE, abs_tol=_CLOSE) for a, b in zip(one, other, strict=True))
