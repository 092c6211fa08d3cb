"""TVM's types -> the types of the memory program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from relax_lint.model.sizes import size_in_bytes
from relax_lint.model.types import (
    NO_FIELDS,
    DType,
    OpaqueType,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    ValueType,
)
from relax_lint.symbolic.quantity import Size
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import versions

_dtypes: dict[str, DType] = {}


def read_dtype(dtype: Any) -> DType:
    """A TVM dtype (anything whose text `tvm.DataType` understands)."""
    text = str(dtype)
    known = _dtypes.get(text)
    if known is None:
        bits, lanes = versions.dtype_bits(text)
        known = _dtypes[text] = DType(text, bits, lanes)
    return known


class TypeReader:
    """Reads the types of one function; each shape node is read once, and equal shapes are one object: the
    layers of a model repeat each other.

    An allocation and the variable that it is bound to share one shape node, and so do the
    variables that are the same value under other names.
    """

    def __init__(self, translator: Translator) -> None:
        self._translator = translator
        # By the address of the C++ node, kept too, so that the address stays its own.
        self._shapes: dict[int, tuple[Any, tuple[sympy.Expr, ...] | None]] = {}
        self._equal: dict[tuple[sympy.Expr, ...], tuple[sympy.Expr, ...]] = {}
        self._tuples: dict[int, tuple[Any, TupleType]] = {}
        self._dtypes: dict[int, tuple[Any, DType | None]] = {}
        self._numbers: dict[tuple[int, ...], tuple[sympy.Expr, ...]] = {}
        self._allocated: dict[tuple[int, str], tuple[TensorType, Size]] = {}
        """By the identity of a shape, and the dtype."""
        self._tensors: dict[tuple[int, str | None, int, str | None], TensorType] = {}
        """By the identity of the shape, which the type keeps, and what else there is."""

    def extents(self, shape: Any) -> tuple[sympy.Expr, ...] | None:
        """The extents of a ShapeExpr or ShapeType; None where one of them cannot be expressed exactly."""
        address = shape.__chandle__()
        known = self._shapes.get(address)
        if known is None:
            known = self._shapes[address] = (shape, self._read_extents(shape.values))
        return known[1]

    def allocated(self, shape: tuple[sympy.Expr, ...], dtype: DType) -> tuple[TensorType, Size]:
        """The type of a tensor that is allocated, and its bytes."""
        key = (id(shape), dtype.name)
        known = self._allocated.get(key)
        if known is None:
            type_ = self.tensor(shape, dtype, len(shape), None)
            known = self._allocated[key] = type_, size_in_bytes(shape, dtype)
        return known

    def tensor(
        self, extents: tuple[sympy.Expr, ...] | None, dtype: DType | None, ndim: int, device: str | None
    ) -> TensorType:
        """The type of a tensor: one object for equal types, where their shapes were read here."""
        key = id(extents), None if dtype is None else dtype.name, ndim, device
        known = self._tensors.get(key)
        if known is None:
            known = self._tensors[key] = TensorType(extents, dtype, ndim, device)
        return known

    def type(self, ty: Any) -> ValueType:
        """The type that the IR gives a value."""
        kind = type(ty).__name__
        if kind == "TensorType":
            return self._tensor(ty)
        if kind == "DTensorType":
            # All shards together: which part each device has is decided when they are lowered.
            return self._tensor(ty.tensor_ty)
        if kind == "ShapeType":
            return ShapeType(None if ty.values is None else self.extents(ty))
        if kind == "TupleType":
            return self._tuple(ty)
        if kind == "PrimType":
            return PrimType(str(ty.dtype))
        return OpaqueType()

    def _tuple(self, ty: Any) -> TupleType:
        """A kernel that writes into its arguments gives a tuple without fields: one node for many calls."""
        address = ty.__chandle__()
        known = self._tuples.get(address)
        if known is None:
            fields = versions.items(ty.fields)
            type_ = TupleType(tuple([self.type(field) for field in fields])) if fields else NO_FIELDS
            known = self._tuples[address] = (ty, type_)
        return known[1]

    def _tensor(self, ty: Any) -> TensorType:
        dtype = self._dtype(ty.dtype)
        shape = ty.shape
        extents: tuple[sympy.Expr, ...] | None = None
        if shape is not None:
            if type(shape).__name__ == "ShapeExpr":
                extents = self.extents(shape)
            elif type(shape.ty).__name__ == "ShapeType" and shape.ty.values is not None:
                extents = self.extents(shape.ty)
        on = ty.vdevice
        device = None if on is None else str(on)
        # In a graph that was saved, or changed since, the two need not agree.
        ndim = int(ty.ndim) if extents is None else len(extents)
        return self.tensor(extents, dtype, ndim, device)

    def _dtype(self, named: Any) -> DType | None:
        """The dtype of a tensor; None where it has none. 0.27 has a node for it, which most tensors share."""
        if named is None or isinstance(named, str):
            return None if named in (None, "", "void") else read_dtype(named)
        address = named.__chandle__()
        known = self._dtypes.get(address)
        if known is None:
            text = str(named)
            known = self._dtypes[address] = (named, None if text in ("", "void") else read_dtype(text))
        return known[1]

    def _read_extents(self, values: Sequence[Any]) -> tuple[sympy.Expr, ...] | None:
        extents = versions.items(values)
        if all(type(extent).__name__ == "IntImm" for extent in extents):
            # To look one up by its numbers is quicker than to make it and to look it up by itself.
            numbers = tuple([int(extent.value) for extent in extents])
            known = self._numbers.get(numbers)
            if known is None:
                found = tuple(map(sympy.Integer, numbers))
                known = self._numbers[numbers] = self._equal.setdefault(found, found)
            return known
        try:
            found = tuple([self._translator.expr(extent) for extent in extents])
        except Untranslatable:
            return None
        return self._equal.setdefault(found, found)
