"""The elements that a body touches: their indices as expressions, and when a statement is reached."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any
from weakref import proxy

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.conditions import Below
from relax_lint.model.kernel_body.data_flow import DataFlow, Element
from relax_lint.model.kernel_body.flat_positions import flat_position
from relax_lint.model.kernel_body.looked_up import looked_up
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.sure_reads import Sure, add, in_loop
from relax_lint.model.kernel_body.sure_walk import SureWalk
from relax_lint.model.kernel_body.touches import Loop, Touch
from relax_lint.model.kernels import BufferParameter, KernelParameter, Lookup
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import nodes


class Places(SureWalk):
    """Notes what one body touches; the findings are in its public attributes afterwards."""

    def __init__(
        self,
        variables: Sequence[Any],
        parameters: Sequence[KernelParameter],
        translator: Translator,
        loops: Loops,
    ) -> None:
        super().__init__(translator, loops)
        # With a reference to this one all that was read would stay until the collector comes.
        self.flow = DataFlow(partial(Places._same_place, proxy(self)))
        self.touches: list[Touch] = []
        self.lookups: list[Lookup] = []
        self.filled: dict[int, Boolean] = {}
        """When parameters are written as a whole by what the kernel calls."""
        self._parameters = parameters
        self._loops = loops
        self._windows: set[Any] = set()
        """Buffers that show another's data under other indices."""
        self._guards = 0
        self._asked: list[tuple[Below, ...] | None] = []
        """What the conditions around a statement ask, None where that is not known."""
        self._nest: tuple[Loop, ...] = ()
        self._left: set[str] = set()
        """The ways out that a statement before this one may have taken."""
        for position, var in enumerate(variables):
            if type(var.ty).__name__ != "PrimType":
                self._roots[var] = position

    def _come_from(self, loops: Sequence[Loop], sure: Sure, *, whole: bool) -> None:
        """Behind loops, what was read in a step of them for sure is read."""
        shapes = [self._shape(position) for position in range(len(self._parameters))]
        for loop in loops:
            sure = in_loop(sure, loop, shapes, self._loops, whole=whole)
        add(self.effects.sure, sure)

    def _touch(
        self,
        buffer: Any,
        position: int | None,
        indices: tuple[sympy.Expr | None, ...],
        *,
        writes: bool,
        copied: int | None = None,
    ) -> Touch:
        """Of an own buffer that of nobody else."""
        if buffer in self._windows:
            indices, copied = (None,), None
        touch = Touch(
            -1 if position is None else position,
            indices,
            self._shape_of(buffer if position is None else position),
            self._nest,
            len(self.touches),
            self._uncertain,
            writes,
            copied,
            conditions=self._conditions,
        )
        if position is not None:
            self.touches.append(touch)
        return touch

    @property
    def _uncertain(self) -> int:
        """The number of reasons for which a statement may not be reached."""
        return self._guards + bool(self._left)

    @property
    def _conditions(self) -> tuple[Below, ...] | None:
        """What all conditions ask under which a statement is reached, where that is known."""
        known = [part for part in self._asked if part is not None]
        if len(known) < max(self._uncertain, len(self._asked)):
            return None
        return tuple(one for part in known for one in part)

    def _element(self, buffer: Any, indices: tuple[sympy.Expr | None, ...]) -> Element:
        position = self._roots.get(buffer)
        return Element(buffer if position is None else position, indices)

    def _same_place(self, one: Element, other: Element) -> bool:
        shape, other_shape = self._shape_of(one.buffer), self._shape_of(other.buffer)
        if shape is None or other_shape is None or None in one.indices or None in other.indices:
            return False
        if one.indices == other.indices and shape[1:] == other_shape[1:]:
            return True
        if self._loops.variables_of(one.indices) != self._loops.variables_of(other.indices):
            return False
        position = flat_position(one.indices, shape, self._loops)
        return position is not None and position == flat_position(other.indices, other_shape, self._loops)

    def _indices(self, nodes: Sequence[Any]) -> tuple[sympy.Expr | None, ...]:
        return tuple([self._index(node) for node in nodes])

    def _index(self, node: Any) -> sympy.Expr | None:
        try:
            index = self._translator.expr(node)
        except (Untranslatable, AttributeError):
            return None
        # On an axis with one element the loop variable and 0 are the same place.
        reached = self._loops.range_of(index) if index.is_Symbol else None
        return reached.first if reached is not None and reached.first == reached.last else index

    def _is_sure_of(self, buffer: Any) -> bool:
        """Whether what is done here is done for sure, to elements as indices of a parameter count them."""
        return buffer not in self._windows and not self._uncertain

    def _look_up(self, position: int, indices: Sequence[Any]) -> None:
        for axis, node in enumerate(indices):
            found = looked_up(node)
            if found is not None:
                source = self._roots.get(nodes.loaded_buffer(found.load))
                steps = None if source is None else self._steps_over(source, found.load)
                if steps is not None:
                    assert source is not None
                    self.lookups.append(Lookup(position, axis, source, steps, found.added, found.span))

    def _steps_over(self, source: int, load: Any) -> tuple[sympy.Expr, ...] | None:
        """The extents of the loops around a load that comes to every element of a parameter; None for any
        other.
        """
        shape, indices = self._shape(source), self._indices(load.indices)
        if shape is None or nodes.loaded_buffer(load) in self._windows:
            return None
        moving = [index for index in indices if index != 0]
        if len(set(moving)) < len(moving):
            return None
        for index, extent in zip(indices, shape, strict=True):
            reached = None if index is None else self._loops.range_of(index)
            plain = index is not None and (index.is_Symbol or index == 0)
            if not plain or reached is None or reached.first != 0 or reached.extent != extent:
                return None
        extents = [loop.extent for loop in self._nest]
        known = [extent for extent in extents if extent is not None and self._loops.in_signature(extent)]
        return tuple(known) if len(known) == len(extents) else None

    def _shape(self, position: int) -> tuple[sympy.Expr, ...] | None:
        parameter = self._parameters[position]
        if not isinstance(parameter, BufferParameter) or isinstance(parameter.shape, Unknown):
            return None
        return parameter.shape

    def _shape_of(self, buffer: Any) -> tuple[sympy.Expr, ...] | None:
        """The extents of a parameter, by its position, or of a local buffer."""
        if isinstance(buffer, int):
            return self._shape(buffer)
        try:
            return tuple(self._translator.expr(extent) for extent in buffer.shape)
        except (Untranslatable, AttributeError):
            return None
