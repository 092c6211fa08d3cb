"""Calls that fill, move and multiply small matrices, as TVM's code generators for CUDA and Metal print them.

A matrix of an array is one element of it in what they print; of a matrix in memory each row is so many elements
behind the one before it. What they compute is left out: what is stored is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.oracle.tir.expressions import Declined, Frame, Value, buffer_of, key, name_of, value
from tests.oracle.tir.memory import Memory, View

Shape: TypeAlias = "tuple[int, int, int]"
Place: TypeAlias = "Callable[[Frame], tuple[View, int]]"
"""A buffer, and how many elements behind the start of its memory a pointer points."""

_EXTENTS = {"wmma.matrix_a": (0, 2), "wmma.matrix_b": (2, 1), "wmma.accumulator": (0, 1)}
_MOVES = {"tvm_load_matrix_sync": False, "tvm_store_matrix_sync": True}
_METAL_MOVES = {"simdgroup_load": False, "simdgroup_store": True}
_PRODUCTS = ("tvm_mma_sync", "tvm_bmma_sync", "simdgroup_multiply_accumulate")


def matrix_call(node: Any) -> Value | None:
    """A call on matrices; None for any other."""
    name, args = name_of(node), list(node.args)
    if name == "tvm_fill_fragment":
        return _number(args[0], args[4], _wmma(args), True)
    if name == "make_filled_simdgroup_matrix":
        return _number(args[0], args[1], _METAL, True)
    if name in _MOVES:
        shape = _wmma(args)
        by_column = str(args[7].value) == "col_major"
        return _both(
            _number(args[0], args[4], shape, not _MOVES[name]),
            _rows(args[0], args[5], args[6], shape, by_column, _MOVES[name]),
        )
    if name in _METAL_MOVES:
        rows = _rows(args[0], args[2], args[3], _METAL, False, _METAL_MOVES[name])
        return _both(_number(args[0], args[1], _METAL, not _METAL_MOVES[name]), rows)
    if name in _PRODUCTS:
        known: Shape | None = _METAL if name.startswith("simdgroup") else None
        pairs = zip(args[::2], args[1::2], strict=True)
        return _both(*(_number(*pair, known, at == 0) for at, pair in enumerate(pairs)))
    return None


_METAL = (8, 8, 8)


def _wmma(args: list[Any]) -> Shape:
    m, n, k = (int(one.value) for one in args[1:4])
    return m, n, k


def _both(*calls: Value) -> Value:
    def run(frame: Frame) -> int:
        for call in calls:
            call(frame)
        return 0

    return run


def _scope(data: Any) -> str:
    return str(data.args[0].ty.storage_scope)


def _extents(data: Any, memory: Memory, shape: Shape | None) -> tuple[int, int]:
    """The extents of the matrices of an array, which its first call says."""
    known: Shape | None = memory.product or shape
    memory.product = known
    if known is None or shape not in (None, known):
        raise Declined("matrices of different extents")
    if _scope(data) == "metal.simdgroup":
        return 8, 8
    rows, columns = _EXTENTS[_scope(data)]
    return known[rows], known[columns]


def _number(data: Any, number: Any, shape: Shape | None, stores: bool) -> Value:
    """A matrix of an array."""
    array, which = key(data.args[0]), value(number)

    def run(frame: Frame) -> int:
        frame.step()
        view, at = buffer_of(frame, array), which(frame)
        rows, columns = _extents(data, view.memory, shape)
        count = view.memory.size // view.width // (rows * columns)
        if not 0 <= at < count:
            frame.access.leaves(data, view, (at,), frame.where, stores)
        return 0

    return run


def _rows(data: Any, pointer: Any, stride: Any, shape: Shape, by_column: bool, stores: bool) -> Value:
    """A matrix in memory."""
    array, there, step = key(data.args[0]), place(pointer), value(stride)

    def run(frame: Frame) -> int:
        extents = _extents(data, buffer_of(frame, array).memory, shape)
        count, length = extents[::-1] if by_column else extents
        view, start = there(frame)
        by = step(frame)
        for row in range(count):
            for column in range(length):
                frame.step()
                cell = (start + row * by + column) * view.width
                if view.source is not None and start == view.offset:
                    # A tile that leaves an axis of what the window shows is outside, wherever its elements are.
                    frame.access.site = pointer
                    frame.access.cell(view, (row, column), frame.where, stores)
                if not 0 <= cell <= view.memory.size - view.width:
                    frame.access.leaves(pointer, view, (row, column), frame.where, stores)
                elif stores:
                    view.memory.cells[cell] = 0.0
        return 0

    return run


def place(pointer: Any) -> Place:
    """Where a pointer points to."""
    if name_of(pointer) == "tvm_access_ptr":
        buffer, offset = key(pointer.args[1].args[0]), value(pointer.args[2])
        return lambda frame: (buffer_of(frame, buffer), offset(frame))
    if name_of(pointer) == "address_of":
        load = pointer.args[0]
        buffer = key(load.source if hasattr(load, "source") else load.buffer)
        indices = [value(index) for index in load.indices]
        return lambda frame: (
            buffer_of(frame, buffer),
            buffer_of(frame, buffer).position([index(frame) for index in indices]),
        )
    raise Declined("a pointer")
