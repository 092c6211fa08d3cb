"""How many bytes packed functions of TVM's runtime take, from the types of their arguments.

Each formula takes the values of a call (`Arguments`) and gives the bytes on the device and on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import sympy

from relax_lint.model.kernel_buffers import ExternalCall
from relax_lint.model.types import (
    DType,
    OpaqueType,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    ValueType,
)
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.totals.quantities import Indeterminate, Quantity, Scope, held_bytes
from relax_lint.vm import packed_memory as table

_MHA, _SLIDING = 0, 3
"""The kinds of attention that keep pages of keys and values: `AttnKind` of TVM's `attn_utils.h`."""


@record(frozen=True)
class Bytes:
    """What one call takes on the device and on the host."""

    device: Quantity
    host: Quantity = 0


@record(frozen=True)
class Arguments:
    """The types of the arguments of one call, in the terms of its scope."""

    types: Sequence[ValueType]
    scope: Scope

    def numbers(self, position: int) -> tuple[Quantity, ...]:
        """The extents of a shape. Raises Indeterminate."""
        type_ = self._at(position)
        if not isinstance(type_, ShapeType) or type_.extents is None:
            raise Indeterminate(f"argument {position} is not a shape that is known")
        return tuple(self.scope.quantity(extent) for extent in type_.extents)

    def number(self, position: int) -> Quantity:
        """The value of a scalar. Raises Indeterminate."""
        type_ = self._at(position)
        if not isinstance(type_, PrimType) or type_.value is None:
            raise Indeterminate(f"argument {position} is not a number that is known")
        return self.scope.quantity(type_.value)

    def tensor(self, position: int) -> TensorType:
        """The type of a tensor. Raises Indeterminate."""
        type_ = self._at(position)
        if not isinstance(type_, TensorType) or type_.dtype is None:
            raise Indeterminate(f"argument {position} is not a tensor whose dtype is known")
        return type_

    def tensors(self, position: int) -> tuple[TensorType, ...]:
        """The types of a tuple of tensors. Raises Indeterminate."""
        type_ = self._at(position)
        fields = type_.fields if isinstance(type_, TupleType) else ()
        if not fields or not all(isinstance(field, TensorType) for field in fields):
            raise Indeterminate(f"argument {position} is not a tuple of tensors")
        return tuple(field for field in fields if isinstance(field, TensorType))

    def names_library(self, position: int) -> bool:
        """Whether a tuple of a name and functions holds a function outside of the module."""
        type_ = self._at(position)
        fields = type_.fields if isinstance(type_, TupleType) else ()
        return any(isinstance(field, OpaqueType) and field.text == "ExternFunc" for field in fields)

    def _at(self, position: int) -> ValueType:
        if position >= len(self.types):
            raise Indeterminate(f"it has no argument {position}")
        return self.types[position]


Formula: TypeAlias = Callable[[Arguments, bool], Bytes]
"""(arguments, whether the device is a CPU or CUDA) -> bytes."""


def _paged_cache(given: Arguments, merged: bool) -> Bytes:
    sequences, tokens, chunk, page, sliding = given.numbers(0)[:5]
    first, last = _one_group(given.numbers(1))
    query_heads, heads, key_size, value_size = (given.number(position) for position in range(2, 6))
    kinds = [int(kind) for kind in given.numbers(6)]
    if any(kind not in (_MHA, _SLIDING) for kind in kinds[first:last]):
        raise Indeterminate("what a cache for latent or linear attention keeps was never measured")
    if any(given.names_library(position) for position in range(15, 23)):
        raise Indeterminate("what FlashInfer takes for itself was never measured")
    element = _element(given.tensor(12).dtype)
    pages = _ceil(tokens, page) + 1 + 2 * sequences * _least(sliding, 1)
    layers = (last - first) * pages * 2 * heads * page * key_size
    projected = query_heads * key_size + heads * (key_size + value_size) if _MHA in kinds else 0
    temporary = chunk * (projected + query_heads * value_size)
    lengths = chunk * query_heads * 4
    in_tree = _least(table.TREE_SIZE * sequences, chunk)
    compact = _aligned(sequences + 1) + _aligned(2 * in_tree)
    if not merged:
        raise Indeterminate("the arrays of the cache are those of a CPU or CUDA only")
    auxiliary = table.INDEX_BYTES * (table.CACHE_AUXILIARY_ELEMENTS + compact)
    per_depth = 4 * (sequences + 1) + (5 + 2 * table.TREE_SIZE) * sequences + 2 * pages
    once = 2 * sequences + 7 * chunk + 2 * (sequences + 1) + 2 * in_tree
    vectors = table.INDEX_BYTES * (table.CACHE_DEPTHS * per_depth + once)
    device = element * (layers + temporary) + 2 * lengths + auxiliary
    host = vectors + auxiliary
    return Bytes(device, host)


def _one_group(layers: Sequence[Quantity]) -> tuple[int, int]:
    if len(layers) != 2 or not all(isinstance(layer, int) for layer in layers):
        raise Indeterminate("the layers are shared between several groups of workers")
    return int(layers[0]), int(layers[1])


def _legacy_cache(given: Arguments, merged: bool) -> Bytes:
    initial, reserved = given.tensor(0), given.numbers(1)
    if initial.shape is None or not initial.shape:
        raise Indeterminate("the first argument has no shape that is known")
    filled, slots = given.scope.quantity(initial.shape[0]), reserved[0]
    if not isinstance(filled, int) or not isinstance(slots, int) or slots < 1:
        if filled != slots:
            raise Indeterminate("the cache may be doubled when it is made")
    else:
        while slots < filled:
            slots *= 2
    return Bytes(_element(initial.dtype) * _product((slots, *reserved[1:])))


def _rnn_state(given: Arguments, merged: bool) -> Bytes:
    layers, sequences, history = (given.number(position) for position in range(3))
    states = sum(held_bytes(state, given.scope) for state in given.tensors(5))
    return Bytes(layers * sequences * history * states + 2 * sequences * table.INDEX_BYTES)


def _copy(given: Arguments, merged: bool) -> Bytes:
    return Bytes(held_bytes(given.tensor(0), given.scope))


FORMULAS: Mapping[str, Formula] = {
    table.PAGED_CACHE: _paged_cache,
    table.LEGACY_CACHE: _legacy_cache,
    table.RNN_STATE: _rnn_state,
    table.COPY_TO_DEVICE: _copy,
}


def sort_scratch(length: Quantity) -> Quantity:
    """The most bytes of the heap that sorting rows of a length takes: the pairs, which grow by doubling, and
    a buffer as large as them.
    """
    return table.SORTED_PAIR_BYTES * 3 * length


def sort_bytes(call: ExternalCall, scope: Scope) -> Quantity | None:
    """The scratch of a function that sorts, at most; None for any other function. Raises Indeterminate."""
    numbers = dict(call.numbers)
    last = max(numbers, default=0)
    if call.name == table.TOP_K and numbers.get(last - 3, 0) >= 1:
        # A heap of the `k` largest ones, and one more.
        return table.SORTED_PAIR_BYTES * (numbers[last - 3] + 1)
    axis = {table.SORT: 3, table.ARGSORT: 3, table.ARGSORT_NMS: 4, table.TOP_K: last - 2}.get(call.name)
    if axis is None:
        return None
    if axis not in numbers or not call.extents:
        raise Indeterminate("what it sorts is not known")
    return sort_scratch(scope.quantity(call.extents[numbers[axis]]))


def _element(dtype: DType | None) -> int:
    if dtype is None:
        raise Indeterminate("the dtype is not known")
    return dtype.storage_bytes


def _product(factors: Sequence[Quantity]) -> Quantity:
    found: Any = 1
    for factor in factors:
        found = found * factor
    return found


def _ceil(size: Quantity, unit: Quantity) -> Quantity:
    if isinstance(size, int) and isinstance(unit, int):
        return -(-size // unit)
    return FloorDiv(size + unit - 1, sympy.sympify(unit))


def _aligned(count: Quantity) -> Quantity:
    """A number of elements of int32 in units of 16 bytes."""
    return 4 * _ceil(count, 4)


def _least(one: Quantity, other: Quantity) -> Quantity:
    if isinstance(one, int) and isinstance(other, int):
        return min(one, other)
    return sympy.Min(one, other)
