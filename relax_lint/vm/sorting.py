"""TVM's packed functions that sort: what they read and write, and which results are positions.

From `src/runtime/extra/contrib/sort/sort.cc`. `sort` and `argsort` write as many elements as they read.
`topk` writes `min(k, extent)` of the `k` elements of each row; of a `k` below 1 it makes the extent. An index
is at most the extent of the axis, less one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relax_lint.support.lazy_dataclass import record
from relax_lint.vm import nodes
from relax_lint.vm.packed_memory import ARGSORT, SORT, TOP_K

_AXIS_OF_SORT, _AXIS_OF_TOP_K = 3, -3
_BOTH, _VALUES, _INDICES = "both", "values", "indices"


@record(frozen=True)
class Array:
    """A tensor that is handed on: all of a buffer, with the extents that the call says."""

    buffer: Any
    shape: tuple[Any, ...]


@record(frozen=True)
class Sorted:
    """One result; `indices`: it holds positions on the sorted axis."""

    array: Array
    indices: bool


@record(frozen=True)
class Sorting:
    """A call that sorts `source` along an axis. `first` is how many of each row it writes at most, None for
    all of them.
    """

    source: Array
    axis: int
    results: tuple[Sorted, ...]
    first: int | None = None


def sorting_of(call: Any) -> Sorting | None:
    """What a call in a kernel sorts; None if it is any other, or not all of it is known."""
    name = str(getattr(call.op, "name", "")).rpartition(".")[2]
    if name not in ("tvm_call_packed", "call_packed", "tvm_call_cpacked") or not len(call.args):
        return None
    callee = call.args[0]
    if type(callee).__name__ != "StringImm":
        return None
    arguments = list(call.args[1:])
    if str(callee.value) in (SORT, ARGSORT):
        return _sort(arguments, indices=str(callee.value) == ARGSORT)
    return _top_k(arguments) if str(callee.value) == TOP_K else None


def _sort(arguments: Sequence[Any], *, indices: bool) -> Sorting | None:
    if len(arguments) < _AXIS_OF_SORT:
        return None
    source, result = _array(arguments[0]), _array(arguments[1])
    axis = _number(arguments[_AXIS_OF_SORT - 1])
    if source is None or result is None or axis is None:
        return None
    return _on_axis(source, axis, (Sorted(result, indices),), None)


def _top_k(arguments: Sequence[Any]) -> Sorting | None:
    if len(arguments) < -_AXIS_OF_TOP_K + 3:
        return None
    kind = str(getattr(arguments[-2], "value", ""))
    axis, first = _number(arguments[_AXIS_OF_TOP_K]), _number(arguments[_AXIS_OF_TOP_K - 1])
    source = _array(arguments[0])
    count = {_BOTH: 2, _VALUES: 1, _INDICES: 1}.get(kind)
    if count is None or axis is None or first is None or source is None:
        return None
    arrays = [array for array in map(_array, arguments[1 : 1 + count]) if array is not None]
    if len(arrays) != count:
        return None
    indices = [False, True] if kind == _BOTH else [kind == _INDICES]
    results = tuple(Sorted(array, flag) for array, flag in zip(arrays, indices, strict=True))
    return _on_axis(source, axis, results, first if first > 0 else None)


def _on_axis(source: Array, axis: int, results: tuple[Sorted, ...], first: int | None) -> Sorting | None:
    rank = len(source.shape)
    axis = axis + rank if axis < 0 else axis
    if not 0 <= axis < rank or any(len(one.array.shape) != rank for one in results):
        return None
    return Sorting(source, axis, results, first)


def _number(node: Any) -> int | None:
    return int(node.value) if type(node).__name__ == "IntImm" else None


def _array(node: Any) -> Array | None:
    """A tensor made of all of a buffer."""
    if type(node).__name__ != "Call" or not str(getattr(node.op, "name", "")).endswith(
        ".tvm_stack_make_array"
    ):
        return None
    buffer, shape = nodes.data_of_buffer(node.args[0]), getattr(node.args[1], "args", None)
    strides, offset = _number(node.args[2]), _number(node.args[5])
    # Strides are given by address; 0 is for none.
    if buffer is None or shape is None or strides != 0 or offset != 0:
        return None
    return Array(buffer, tuple(shape))
