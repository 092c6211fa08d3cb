"""Types of values in the memory program."""

from __future__ import annotations

from typing import TypeAlias

import sympy

from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class DType:
    """An element type: `bits` per lane, `lanes` per element; `name` as TVM prints it."""

    name: str
    bits: int
    lanes: int = 1

    @property
    def storage_bytes(self) -> int:
        """Whole bytes of one element, as TVM's planner counts: ceil(bits * lanes / 8)."""
        return (self.bits * self.lanes + 7) // 8


@record(frozen=True)
class TensorType:
    """A tensor. `shape` is None where the IR gives no shape; `ndim` is -1 where it is unknown."""

    shape: tuple[sympy.Expr, ...] | None
    dtype: DType | None
    ndim: int
    device: str | None = None


@record(frozen=True)
class ShapeType:
    """A shape value; `extents` is None where it is unknown."""

    extents: tuple[sympy.Expr, ...] | None


@record(frozen=True)
class PrimType:
    """A scalar value; `value` is its symbolic value where it is known."""

    dtype: str
    value: sympy.Expr | None = None


@record(frozen=True)
class TupleType:
    """A tuple."""

    fields: tuple[ValueType, ...]


NO_FIELDS = TupleType(())
"""The type of what a kernel gives that writes into its arguments."""


@record(frozen=True)
class OpaqueType:
    """Anything else: objects, storages, functions, strings."""

    text: str = "R.Any"


ValueType: TypeAlias = "TensorType | ShapeType | PrimType | TupleType | OpaqueType"


def may_hold_memory(type_: ValueType) -> bool:
    """Whether a value of a type is a tensor or a storage, or may hold one."""
    return bool(type_.fields) if isinstance(type_, TupleType) else isinstance(type_, (TensorType, OpaqueType))


def extents_of(type_: ValueType | None) -> tuple[sympy.Expr, ...]:
    """The extents of a tensor or of a shape, the value of a scalar; none where they are unknown."""
    if isinstance(type_, PrimType):
        return () if type_.value is None else (type_.value,)
    known = type_.shape if isinstance(type_, TensorType) else None
    return (type_.extents if isinstance(type_, ShapeType) else known) or ()
