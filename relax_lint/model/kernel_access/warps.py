"""Calls by which the threads of a warp move and multiply their parts of matrices: the accesses they make."""

from __future__ import annotations

from typing import Any

from relax_lint.model.kernel_access.layouts import Buffer, memory_of
from relax_lint.model.kernel_access.matrices import Matrices, Pointer, is_same, is_window, stride_of
from relax_lint.model.kernel_access.polynomials import ZERO, Poly, constant
from relax_lint.model.kernel_access.survey import Survey
from relax_lint.vm import nodes
from relax_lint.vm.warp_calls import Part, Pattern, Tile, warp_call

_LANES = 31
"""The last thread of a warp."""
_PERHAPS = "which threads of the warp give their addresses depends on their numbers"


class Warps(Matrices):
    """Reads calls that the threads of a warp make together."""

    def __init__(self, survey: Survey) -> None:
        super().__init__(survey)
        self.threads: dict[str, Poly] = {}
        """The values of thread variables, by their tags."""

    def works_on_matrices(self, node: Any) -> bool:
        """Read a call that works on matrices; whether it is one."""
        if super().works_on_matrices(node):
            return True
        call = warp_call(node)
        if call is None:
            return False
        before, self.callee = self.callee, call.name
        for part in call.parts:
            if part.guard is None:
                self._part(part)
            else:
                with self.under(self.guard(part.guard)):
                    self._part(part)
        if call.tile is not None:
            self._elements_of(call.tile)
        self.callee = before
        return True

    # -- elements one behind the other ---------------------------------------------------------

    def _part(self, part: Part) -> None:
        pointer = self._data_of(part.pointer)
        if pointer is None:
            self.unknown(part.pointer)
            return
        buffer = pointer.buffer
        if part.stores:
            self.hand(buffer)
        (offset,) = self.indices([part.offset])
        length = self._length(part, buffer)
        if offset is None or length is None:
            self.passes(buffer)
            return
        step = ZERO if length == 1 else self.tile_lane(0, length)
        why = "" if part.surely else _PERHAPS
        if pointer.position is None or is_window(buffer):
            self._part_of_window(pointer, offset, step, writes=part.stores, why=why)
        elif memory_of(buffer).ref.scope == "warp" or not self.is_whole(pointer.var, buffer):
            # Each thread has a part of it, behind which another one begins.
            self.passes(buffer)
        else:
            self.placed(buffer, pointer.position + offset + step, writes=part.stores, why=why)

    def _length(self, part: Part, buffer: Buffer) -> int | None:
        if part.elements is not None:
            count = part.elements if isinstance(part.elements, int) else getattr(part.elements, "value", None)
            return int(count) if count is not None and int(count) > 0 else None
        return part.bits // buffer.item if buffer.item and part.bits % buffer.item == 0 else None

    def _data_of(self, node: Any) -> Pointer | None:
        """Where the data of a buffer begins, or where a pointer points to."""
        var = nodes.data_of_buffer(node)
        if var is None:
            return self.pointer_of(node)
        buffer = self.buffer(var)
        if buffer.source is not None and not is_window(buffer):
            return None
        return Pointer(var, buffer, ZERO)

    def _part_of_window(self, pointer: Pointer, offset: Poly, step: Poly, *, writes: bool, why: str) -> None:
        """Elements of a row of a window: so many behind the start of its memory, or behind an element."""
        element = self._element_at(pointer, offset)
        if (
            element is None
            or not self.has_whole_rows(pointer.buffer)
            or not self.fits(pointer.buffer, pointer.var)
        ):
            self.passes(pointer.buffer)
            return
        row, column = element
        self.tile(pointer.buffer, (row, column + step), writes=writes, why=why)

    def _element_at(self, pointer: Pointer, offset: Poly) -> tuple[Poly, Poly] | None:
        """The row and the column of the element that is `offset` elements behind a pointer into a window."""
        buffer, var = pointer.buffer, pointer.var
        if len(buffer.shape) != 2:
            return None
        row, column = pointer.element or (ZERO, ZERO)
        if pointer.position is not None:
            start = self.known.get(var.elem_offset.__chandle__())
            if not isinstance(start, Poly) or start.single() is None:
                return None
            offset = offset - start
            if offset.atoms() & start.atoms():
                return None
        if list(var.strides or ()):
            return self._by_stride(var, offset, row, column)
        width = self._width(buffer)
        if width is None or row != ZERO or column != ZERO:
            return None
        found = self.terms.quotient(offset, width), self.terms.remainder(offset, width)
        return None if found[0] is None or found[1] is None else (found[0], found[1])

    def _by_stride(self, var: Any, offset: Poly, row: Poly, column: Poly) -> tuple[Poly, Poly] | None:
        stride = self.known.get(stride_of(var, 0).__chandle__())
        number = stride.single() if isinstance(stride, Poly) else None
        if number is None or any(monomial.count(number) > 1 for monomial in offset.terms):
            return None
        rows: dict[tuple[int, ...], int] = {}
        columns: dict[tuple[int, ...], int] = {}
        for monomial, factor in offset.terms.items():
            if number in monomial:
                rows[tuple(one for one in monomial if one != number)] = factor
            else:
                columns[monomial] = factor
        return row + Poly(rows), column + Poly(columns)

    def _width(self, buffer: Buffer) -> Poly | None:
        """The extent of the rows of a window that has all of those of its memory."""
        source = buffer.source
        width = buffer.shape[-1]
        while source is not None:
            if buffer.starts[-1] != ZERO or source.shape[-1] != width or source.strides:
                return None
            buffer, source = source, source.source
        return width if width is not None and width.is_constant and width.constant > 0 else None

    # -- elements of tiles ---------------------------------------------------------------------

    def _elements_of(self, tile: Tile) -> None:
        pointer = self.pointer_of(tile.pointer)
        if pointer is None:
            self.unknown(tile.pointer)
            return
        buffer, var = pointer.buffer, pointer.var
        if tile.stores:
            self.hand(buffer)
        element = self._element_of(tile.pattern)
        if element is None:
            self.passes(buffer)
        elif pointer.position is None:
            is_stride = len(buffer.shape) == 2 and is_same(tile.stride, stride_of(var, 0))
            if not is_stride or not self.has_whole_rows(buffer) or not self.fits(buffer, var):
                self.passes(buffer)
                return
            row, column = pointer.element
            self.tile(buffer, (row + element[0], column + element[1]), writes=tile.stores)
        else:
            (stride,) = self.indices([tile.stride])
            if stride is None or not self.is_whole(var, buffer):
                self.passes(buffer)
                return
            position = pointer.position + element[0] * stride + element[1]
            self.placed(buffer, position, writes=tile.stores)

    def _element_of(self, pattern: Pattern) -> tuple[Poly, Poly] | None:
        """The row and column of what a thread touches; None if it may be none of a warp."""
        thread = self.threads.get("threadIdx.x")
        low, high = (None, None) if thread is None else self.terms.span(thread)
        if thread is None or low is None or high is None or low < 0 or high > _LANES:
            return None
        four = constant(4)
        group, member = self.terms.quotient(thread, four), self.terms.remainder(thread, four)
        if group is None or member is None:
            return None
        one, two = self.tile_lane(1, 2), self.tile_lane(2, 2)
        if pattern is Pattern.STORED:
            return group + one.scale(8), member.scale(2) + two.scale(8) + self.tile_lane(3, 2)
        return one.scale(16) + member.scale(4) + self.tile_lane(3, 4), group + two.scale(8)
