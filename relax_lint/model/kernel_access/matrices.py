"""Calls that fill, move and multiply small matrices: the accesses that each of them makes.

Before the lowering such calls are given windows of tiles. Of a window that is inside its buffer the matrix
with the usual number is one of the array, however TVM lays the buffer out: with the tile at row r and column
c, rows of S elements and R rows it is (r // m) * (S // n) + c // n <= (R // m) * (S // n) - 1, as
r + m <= R and c + n <= S; the array has R * S // (m * n) of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relax_lint.model.kernel_access.accesses import LoopRange
from relax_lint.model.kernel_access.expressions import Expressions
from relax_lint.model.kernel_access.layouts import Buffer, allocated, memory_of, start_of
from relax_lint.model.kernel_access.polynomials import ONE, ZERO, Poly, constant
from relax_lint.model.kernel_access.survey import Survey
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm import nodes
from relax_lint.vm.matrix_calls import Matrix, Rows, Shape, extents_of, matrix_call

_INT32 = 2**31
_LEAST_BITS = 8
_WHICH = "which of the kernel's matrices it is depends on how TVM lays them out"


@record(frozen=True)
class Pointer:
    """Where a pointer points to: `position` elements behind the start of the memory of a buffer, or, of a
    window, to an element of it.
    """

    var: Any
    buffer: Buffer
    position: Poly | None = None
    element: tuple[Poly, ...] = ()


class Matrices(Expressions):
    """Reads calls that work on matrices."""

    def __init__(self, survey: Survey) -> None:
        super().__init__(survey)
        self.matrix_shapes: dict[int, Shape | None] = {}
        """By array of matrices the shape of the products; None where calls differ."""
        self.blocks: tuple[Any, ...] = ()
        """The blocks around."""
        self._tile_lanes: dict[tuple[int, int], Poly] = {}

    def works_on_matrices(self, node: Any) -> bool:
        """Read a call that works on matrices; whether it is one."""
        call = matrix_call(node)
        if call is None:
            return False
        before, self.callee = self.callee, call.name
        for value in call.values:
            self.value(value)
        extents = None
        for matrix in call.matrices:
            extents = self._matrix(matrix, call.shape)
        if call.rows is not None:
            self._rows(call.rows, extents)
        self.callee = before
        return True

    # -- matrices of the kernel ----------------------------------------------------------------

    def _matrix(self, matrix: Matrix, shape: Shape | None) -> tuple[int, int] | None:
        """Read an operand; the extents of the matrix."""
        var = nodes.data_of_buffer(matrix.array)
        if var is None:
            self.value(matrix.array)
            self.value(matrix.number)
            return None
        buffer = self.buffer(var)
        extents = self._extents(buffer, shape)
        if matrix.stores:
            self.hand(buffer)
        if extents is None:
            self.lose(buffer, f"the extents of the matrices that `{self.callee}` is given are not known")
        elif buffer.source is None:
            self._numbered(buffer, var, matrix, extents[0] * extents[1])
        else:
            self._in_window(buffer, var, matrix, extents[0] * extents[1])
        return extents

    def _extents(self, buffer: Buffer, shape: Shape | None) -> tuple[int, int] | None:
        root = buffer.ref.root
        if shape is not None and self.matrix_shapes.setdefault(root, shape) != shape:
            self.matrix_shapes[root] = None
        return extents_of(memory_of(buffer).ref.scope, self.matrix_shapes.get(root))

    def _numbered(self, buffer: Buffer, var: Any, matrix: Matrix, elements: int) -> None:
        """A matrix of an array by its number."""
        (number,) = self.indices([matrix.number])
        size = allocated(buffer)
        if number is None or size is None or not size.is_constant or not self.is_whole(var, buffer):
            self.passes(buffer)
            return
        self.numbered(buffer, number, constant(size.constant // elements), writes=matrix.stores)

    def _in_window(self, buffer: Buffer, var: Any, matrix: Matrix, elements: int) -> None:
        """The matrix that is the first tile of a window."""
        tile = _tile_of(var, matrix.number)
        memory = memory_of(buffer)
        is_plain = not memory.strides and memory.offset is None and is_window(buffer)
        is_plain = is_plain and self._gaps(memory) is None
        if tile is None or tile[0] * tile[1] < elements or not is_plain:
            self.passes(buffer)
            return
        self.tile(buffer, self._lanes_of(*tile), writes=matrix.stores, why=_WHICH)

    # -- matrices in memory --------------------------------------------------------------------

    def _rows(self, rows: Rows, extents: tuple[int, int] | None) -> None:
        pointer = self.pointer_of(rows.pointer)
        if pointer is None:
            self.unknown(rows.pointer)
            return
        buffer = pointer.buffer
        if rows.stores:
            self.hand(buffer)
        if extents is None or buffer.item < _LEAST_BITS:
            self.passes(buffer)
            return
        count, length = extents[::-1] if rows.by_column else extents
        row, column = self._lanes_of(count, length)
        if pointer.position is None:
            self._rows_of_window(pointer, rows, (row, column))
            return
        (stride,) = self.indices([rows.stride])
        if stride is None or not self.is_whole(pointer.var, buffer):
            self.passes(buffer)
            return
        self.placed(buffer, pointer.position + row * stride + column, writes=rows.stores)

    def unknown(self, pointer: Any) -> None:
        """What is called is given a pointer to nobody knows which place."""
        for argument in getattr(pointer, "args", ()):
            var = nodes.data_of_buffer(argument)
            if var is None and nodes.is_load(argument):
                var = nodes.loaded_buffer(argument)
            if var is not None:
                self.passes(self.buffer(var))
                return
        self.value(pointer)

    def _rows_of_window(self, pointer: Pointer, rows: Rows, lanes: tuple[Poly, Poly]) -> None:
        buffer, var = pointer.buffer, pointer.var
        is_stride = len(buffer.shape) == len(lanes) and is_same(rows.stride, stride_of(var, 0))
        if not is_stride or not self.has_whole_rows(buffer) or not self.fits(buffer, var):
            self.passes(buffer)
            return
        start, step = pointer.element
        self.tile(buffer, (start + lanes[0], step + lanes[1]), writes=rows.stores)

    def has_whole_rows(self, buffer: Buffer) -> bool:
        """Whether the elements of each row of a window are one behind the other."""
        memory = memory_of(buffer)
        strides = memory.strides
        return (
            is_window(buffer)
            and memory.is_compact
            and (not strides or strides[-1] == ONE)
            and not self._gaps(memory)
        )

    def _gaps(self, memory: Buffer) -> bool | None:
        """Whether TVM leaves gaps between the elements of a row; None if it leaves none anywhere."""
        found = [
            gaps
            for address, gaps in self.survey.aligned.items()
            if address not in self.buffers or memory_of(self.buffers[address]) is memory
        ]
        return any(found) if found else None

    def fits(self, buffer: Buffer, var: Any) -> bool:
        """Note where a window begins, and its stride, if TVM counts that in 32 bits; whether it is known."""
        memory = memory_of(buffer)
        if str(var.elem_offset.ty.dtype) == "int64" or not memory.ref.scope.startswith("global"):
            return True
        start, extent = start_of(buffer), memory.shape[-1]
        if start is None or extent is None:
            return False
        for value in (start, extent):
            low, high = self.terms.span(value)
            if low is None or high is None or low < -_INT32 or high >= _INT32:
                self.wraps.append(value)
        return True

    def pointer_of(self, node: Any) -> Pointer | None:
        """Where a pointer points to."""
        name = str(getattr(getattr(node, "op", None), "name", "")).rpartition(".")[2]
        if name == "tvm_access_ptr":
            return self._access_pointer(node)
        if name == "address_of" and nodes.is_load(node.args[0]):
            return self._address_of(node.args[0])
        return None

    def _access_pointer(self, node: Any) -> Pointer | None:
        var = nodes.data_of_buffer(node.args[1])
        if var is None or str(getattr(node.args[0].ty, "dtype", "")) != str(var.dtype):
            return None
        buffer = self.buffer(var)
        if is_window(buffer) and is_same(node.args[2], var.elem_offset):
            return Pointer(var, buffer, None, (ZERO,) * len(buffer.shape))
        (position,) = self.indices([node.args[2]])
        if position is None or buffer.source is not None or not _starts_at_its_data(var):
            return None
        return Pointer(var, buffer, position)

    def _address_of(self, load: Any) -> Pointer | None:
        var = nodes.loaded_buffer(load)
        buffer = self.buffer(var)
        indices = [index for index in self.indices(load.indices) if index is not None]
        if len(indices) != len(buffer.shape):
            return None
        if is_window(buffer):
            return Pointer(var, buffer, None, tuple(indices))
        if buffer.may_move or buffer.source is not None or buffer.strides or not _starts_at_its_data(var):
            # TVM counts only the element as used.
            return None
        position = ZERO
        for index, extent in zip(indices, buffer.shape, strict=True):
            if extent is None:
                return None
            position = position * extent + index
        return Pointer(var, buffer, position)

    # -- both ----------------------------------------------------------------------------------

    def passes(self, buffer: Buffer) -> None:
        """What is called is given the memory of a buffer, and what it does with it is not known."""
        self.lose(buffer, f"its memory is passed to `{self.callee}`")

    def _lanes_of(self, rows: int, columns: int) -> tuple[Poly, Poly]:
        """The rows and columns of a tile, as loops."""
        return self.tile_lane(0, rows), self.tile_lane(1, columns)

    def tile_lane(self, axis: int, extent: int) -> Poly:
        """The elements of a tile on one axis, as a loop."""
        lane = self._tile_lanes.get((axis, extent))
        if lane is None:
            lane = self._tile_lanes[axis, extent] = self.terms.loop("lane", ZERO, constant(extent))
            (number,) = lane.atoms()
            self._lanes[number] = LoopRange("lanes", lane, ZERO, constant(extent))
        return lane

    def is_whole(self, var: Any, buffer: Buffer) -> bool:
        """Whether TVM allocates all of a buffer to which a pointer is given: what a block declares to be its
        part of it may be less (`CompactBufferAllocation`).
        """
        if buffer.ref.parameter is not None:
            return True
        for block in reversed(self.blocks):
            regions = [
                region
                for region in (*block.reads, *block.writes)
                if is_same(nodes.region_source(region), var)
            ]
            if regions:
                return any(all(self._is_all(region, buffer)) for region in regions)
        return True

    def _is_all(self, region: Any, buffer: Buffer) -> Iterator[bool]:
        for part, extent in zip(region.region, buffer.shape, strict=True):
            yield self.number(part.min) == ZERO and self.number(part.extent) == extent


def is_window(buffer: Buffer) -> bool:
    """Whether a buffer is a window, of a window or of a buffer that is none."""
    source = buffer.source
    if source is None or buffer.view:
        return False
    return source.source is None or is_window(source)


def _starts_at_its_data(var: Any) -> bool:
    """Whether the first element of a buffer is where its data begins."""
    offset = var.elem_offset
    return offset is None or (type(offset).__name__ == "IntImm" and int(offset.value) == 0)


def stride_of(var: Any, axis: int) -> Any:
    """A stride of a buffer; None if it says none."""
    strides = list(var.strides or ())
    return strides[axis] if axis < len(strides) else None


def is_same(node: Any, other: Any) -> bool:
    """Whether two expressions are one variable."""
    is_variable = type(node).__name__ in ("Var", "SizeVar")
    return bool(is_variable and other is not None and node.__chandle__() == other.__chandle__())


def _tile_of(var: Any, number: Any) -> tuple[int, int] | None:
    """The extents of the tiles in which a matrix has a number, if it is the one at the start of a window:
    `offset // stride // rows * (stride // columns) + offset % stride // columns`.
    """
    sides = _operands(number, "Add")
    factors = None if sides is None else _operands(sides[0], "Mul")
    if sides is None or factors is None or len(var.shape) != len(list(var.strides or ())):
        return None
    offset, stride = var.elem_offset, stride_of(var, 0)
    rows, row = _divided(factors[0])
    first, columns = _divided(factors[1])[::-1]
    others, column = _divided(sides[1])
    quotient, remainder = _operands(row, "FloorDiv"), _operands(column, "FloorMod")
    if quotient is None or remainder is None or rows is None or columns is None or others != columns:
        return None
    known = ((quotient[0], offset), (remainder[0], offset), (quotient[1], stride), (remainder[1], stride))
    if len(var.shape) == 2 and is_same(first, stride) and all(is_same(*pair) for pair in known):
        return rows, columns
    return None


def _operands(node: Any, kind: str) -> tuple[Any, Any] | None:
    return (node.a, node.b) if type(node).__name__ == kind else None


def _divided(node: Any) -> tuple[int | None, Any]:
    """The number by which something is divided, and what is."""
    sides = _operands(node, "FloorDiv")
    if sides is None or type(sides[1]).__name__ != "IntImm" or int(sides[1].value) <= 0:
        return None, None
    return int(sides[1].value), sides[0]
