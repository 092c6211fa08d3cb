"""Whether two tensors share bytes: the memory that they are on, and their ranges there, with symbolic offsets
and sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty
from relax_lint.model.operations import AllocTensor, Op, ValueId
from relax_lint.model.program import Function
from relax_lint.model.sizes import is_packed, kernel_bytes, tensor_bytes
from relax_lint.model.types import DType
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.symbolic.relations import CACHED, at_most

_UNKNOWN_START = Unknown("the function that is called chooses the offset")
_UNKNOWN_BYTES = Unknown("the bytes of a tensor are unknown in the IR")
_APART = Unknown(
    "kernels access the elements of few bits with several lanes in other bytes than the VM counts"
)


@record(frozen=True)
class ByteRange:
    """`length` bytes from `start`, counted from the start of the storage or other memory."""

    start: Size
    length: Size

    def disjoint(self, other: ByteRange) -> Boolean | Unknown:
        """No byte is in both; an empty range overlaps no other."""
        for size in (self.start, self.length, other.start, other.length):
            if isinstance(size, Unknown):
                return size
        return _disjoint(self.start, self.length, other.start, other.length)

    def disjoint_or_same_start(self, other: ByteRange) -> Boolean | Unknown:
        """No byte is in both, or both start at one byte."""
        apart = self.disjoint(other)
        return apart if isinstance(apart, Unknown) else sympy.Or(apart, sympy.Eq(self.start, other.start))

    @property
    def empty(self) -> Boolean | Unknown:
        """The range is empty."""
        return self.length if isinstance(self.length, Unknown) else at_most(self.length, sympy.Integer(0))

    def same_start(self, other: ByteRange) -> bool:
        """Whether both are known to start at one byte."""
        return not isinstance(self.start, Unknown) and self.start == other.start


@lru_cache(maxsize=CACHED)
def _disjoint(start: sympy.Expr, length: sympy.Expr, start_2: sympy.Expr, length_2: sympy.Expr) -> Boolean:
    zero = sympy.Integer(0)
    return sympy.Or(
        at_most(start + length, start_2),
        at_most(start_2 + length_2, start),
        at_most(length, zero),
        at_most(length_2, zero),
    )


def either_empty(one: ByteRange, other: ByteRange) -> Boolean | None:
    """One of two ranges is empty; None where that cannot be stated."""
    if isinstance(one.empty, Unknown) or isinstance(other.empty, Unknown):
        return None
    return sympy.Or(one.empty, other.empty)


class TensorMemory:
    """Where the bytes of the tensors of one function are."""

    def __init__(self, function: Function, aliases: Aliases, definitions: Mapping[ValueId, Op]) -> None:
        self._function = function
        self._aliases = aliases
        self._definitions = definitions
        self._ranges: dict[ValueId, ByteRange] = {}
        self._owners: dict[ValueId, frozenset[ValueId]] = {}

    def owners_at(self, path: AccessPath) -> frozenset[ValueId]:
        """What the bytes of a value, or of a field of it, belong to."""
        roots = self._aliases.roots
        return frozenset[ValueId]().union(*(roots.storages.get(r, frozenset((r,))) for r in roots.of(path)))

    def owners(self, value: ValueId) -> frozenset[ValueId]:
        """What the bytes of a tensor belong to: storages where it was put on one."""
        known = self._owners.get(value)
        if known is None:
            storages, roots = self._aliases.roots.storages, self._aliases.roots_of(value)
            known = frozenset[ValueId]().union(*(storages.get(root, {root}) for root in roots))
            self._owners[value] = known
        return known

    def range(self, value: ValueId) -> ByteRange:
        """The bytes of a tensor."""
        known = self._ranges.get(value)
        if known is None:
            placed = self._aliases.roots.elsewhere.isdisjoint(self._aliases.roots_of(value))
            start = self._aliases.places.of(value) if placed else _UNKNOWN_START
            known = self._ranges[value] = ByteRange(start, self._length(value))
        return known

    def same_place(self, one: ValueId, other: ValueId) -> Certainty | None:
        """Whether two tensors start at the same byte; None where they do not."""
        memory, memory_2 = self.owners(one), self.owners(other)
        if memory.isdisjoint(memory_2):
            return None
        start, start_2 = self.range(one).start, self.range(other).start
        if isinstance(start, Unknown) or isinstance(start_2, Unknown):
            return Certainty.MAY
        if len(memory) == 1 and memory == memory_2 and start == start_2:
            return Certainty.MUST
        distance = start - start_2
        return None if distance.is_Integer and distance != 0 else Certainty.MAY

    def _length(self, value: ValueId) -> Size:
        op = self._definitions.get(value)
        if isinstance(op, AllocTensor):
            return op.bytes if isinstance(op.shape, Unknown) else _accessed(op.shape, op.dtype, op.bytes)
        type_ = self._function.tensor_type(value)
        if type_ is None or type_.shape is None or type_.dtype is None:
            return _UNKNOWN_BYTES
        return _accessed(type_.shape, type_.dtype, tensor_bytes(type_.shape, type_.dtype))


def _accessed(shape: tuple[sympy.Expr, ...], dtype: DType, counted: Size) -> Size:
    """The bytes of a tensor that kernels access, which may be more than the VM counts."""
    if not is_packed(dtype):
        return counted
    return kernel_bytes(shape, dtype) if dtype.lanes == 1 else _APART
