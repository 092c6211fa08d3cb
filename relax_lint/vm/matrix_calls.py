"""Calls by which kernels fill, move and multiply small matrices: what each of them touches.

A kernel holds such matrices in arrays of its own (`wmma.*` for CUDA, `metal.simdgroup` for Metal), one after
the other; the device decides where the elements of one are. From TVM's code generators `CodeGenCUDA` and
`CodeGenMetal`: an array has so many matrices as the size of its buffer is times that of a matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from relax_lint.support.lazy_dataclass import record

Shape: TypeAlias = "tuple[int, int, int]"
"""The extents m, n and k of a product: an m x k matrix times a k x n matrix."""

_SIMD_GROUP = "metal.simdgroup"
_SIMD_SHAPE: Shape = 8, 8, 8
"""The only one that Metal has."""


@record(frozen=True)
class Matrix:
    """An argument that is a matrix: the array, and its number in it."""

    array: Any
    number: Any
    stores: bool


@record(frozen=True)
class Rows:
    """An argument that is a matrix in memory: from a pointer on, each row so many elements behind the one
    before it; each column if it is `by_column`.
    """

    pointer: Any
    stride: Any
    by_column: bool
    stores: bool


@record(frozen=True)
class MatrixCall:
    """What a call touches. `shape` is None where other calls with the same arrays say it; `values` are the
    other arguments.
    """

    name: str
    matrices: tuple[Matrix, ...]
    shape: Shape | None
    rows: Rows | None = None
    values: tuple[Any, ...] = ()


def matrix_call(call: Any) -> MatrixCall | None:
    """What a call touches; None if it is any other, or not all of it is known."""
    name = str(getattr(call.op, "name", "")).rpartition(".")[2]
    row = _ROWS.get(name)
    if row is None or len(call.args) != row[0]:
        return None
    return row[1](name, list(call.args))


def extents_of(scope: str, shape: Shape | None) -> tuple[int, int] | None:
    """The extents of the matrices in arrays of a scope, in products of a shape."""
    if shape is None:
        return None
    m, n, k = shape
    known = {"wmma.matrix_a": (m, k), "wmma.matrix_b": (k, n), "wmma.accumulator": (m, n)}
    return (8, 8) if (scope, shape) == (_SIMD_GROUP, _SIMD_SHAPE) else known.get(scope)


def _fill(name: str, args: Sequence[Any]) -> MatrixCall | None:
    shape = _shape(args[1:4])
    return (
        None
        if shape is None
        else MatrixCall(name, (Matrix(args[0], args[4], True),), shape, None, (args[5],))
    )


def _move(name: str, args: Sequence[Any]) -> MatrixCall | None:
    shape, stores = _shape(args[1:4]), "store" in name
    layout = str(getattr(args[7], "value", ""))
    if shape is None or layout not in ("row_major", "col_major"):
        return None
    rows = Rows(args[5], args[6], layout == "col_major", stores)
    return MatrixCall(name, (Matrix(args[0], args[4], not stores),), shape, rows)


def _multiply(name: str, args: Sequence[Any]) -> MatrixCall:
    return MatrixCall(name, _operands(args), None)


def _simd_fill(name: str, args: Sequence[Any]) -> MatrixCall | None:
    matrices = (Matrix(args[0], args[1], True),)
    return MatrixCall(name, matrices, _SIMD_SHAPE, None, (args[2],)) if _is_simd(args[3:5]) else None


def _simd_move(name: str, args: Sequence[Any]) -> MatrixCall | None:
    stores = "store" in name
    if not _is_simd(args[4:6]):
        return None
    # Eight rows of eight, transposed or not.
    rows = Rows(args[2], args[3], False, stores)
    return MatrixCall(name, (Matrix(args[0], args[1], not stores),), _SIMD_SHAPE, rows)


def _simd_multiply(name: str, args: Sequence[Any]) -> MatrixCall:
    return MatrixCall(name, _operands(args), _SIMD_SHAPE)


def _operands(args: Sequence[Any]) -> tuple[Matrix, ...]:
    """The operands of a product, and the result, which comes first."""
    pairs = list(zip(args[::2], args[1::2], strict=True))
    read = [Matrix(array, number, False) for array, number in pairs[1:]]
    return (*read, Matrix(*pairs[0], True))


def _shape(args: Sequence[Any]) -> Shape | None:
    if any(type(one).__name__ != "IntImm" or int(one.value) <= 0 for one in args):
        return None
    m, n, k = (int(one.value) for one in args)
    return m, n, k


def _is_simd(args: Sequence[Any]) -> bool:
    return all(type(one).__name__ == "IntImm" and int(one.value) == _SIMD_SHAPE[0] for one in args)


_ROWS: dict[str, tuple[int, Callable[[str, Sequence[Any]], MatrixCall | None]]] = {
    "tvm_fill_fragment": (6, _fill),
    "tvm_load_matrix_sync": (8, _move),
    "tvm_store_matrix_sync": (8, _move),
    "tvm_mma_sync": (8, _multiply),
    "tvm_bmma_sync": (8, _multiply),
    "make_filled_simdgroup_matrix": (5, _simd_fill),
    "simdgroup_load": (7, _simd_move),
    "simdgroup_store": (7, _simd_move),
    "simdgroup_multiply_accumulate": (8, _simd_multiply),
}
"""By the last part of their names: how many arguments they have, and what they say."""
