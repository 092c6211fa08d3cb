"""TVM's types as the types of the memory program."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import sympy
import tvm
from tvm import relax, tirx

from relax_lint.model.read_types import TypeReader, read_dtype
from relax_lint.model.sizes import effective_capacity, size_in_bytes, tensor_bytes
from relax_lint.model.symbols import SymbolTable
from relax_lint.model.types import (
    DType,
    OpaqueType,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    ValueType,
    may_hold_memory,
)
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.translate import Translator
from relax_lint.vm.allocators import Allocator
from tests.vm.nodes_of import node

F32 = DType("float32", 32)
N = sympy.Symbol("n", integer=True)
FOUR = sympy.Integer(4)
VAR = tirx.Var("n", "int64")
BY_VALUE = relax.Var("s", relax.ShapeType([4]))
BY_RANK = relax.Var("s", relax.ShapeType(ndim=2))
# A load of an element is no expression of symbols.
BUFFER = tirx.decl_buffer((4,), "int64")
LOADED = relax.ShapeExpr([tirx.BufferLoad(BUFFER, [tirx.const(0, "int64")])])

SHAPED_BY_ANYTHING = node(
    "TensorType", dtype="float32", shape=node("Var", ty=node("AnyType")), vdevice=None, ndim=2
)


def _reader() -> TypeReader:
    return TypeReader(Translator(SymbolTable(1 << 40).symbol_of))


@pytest.mark.parametrize(
    ("type_", "found"),
    [
        (relax.TensorType([4, VAR], "float32"), TensorType((FOUR, N), F32, 2)),
        (relax.TensorType([], "float32"), TensorType((), F32, 0)),
        (relax.TensorType(None, "float32", ndim=3), TensorType(None, F32, 3)),
        (relax.TensorType(dtype="float32"), TensorType(None, F32, -1)),
        (relax.TensorType([4], ""), TensorType((FOUR,), None, 1)),
        (relax.TensorType([4], "void"), TensorType((FOUR,), None, 1)),
        (relax.TensorType(BY_VALUE, "float32"), TensorType((FOUR,), F32, 1)),
        (relax.TensorType(BY_RANK, "float32"), TensorType(None, F32, 2)),
        (relax.ShapeType([VAR]), ShapeType((N,))),
        (relax.ShapeType(ndim=1), ShapeType(None)),
        (relax.TupleType([]), TupleType(())),
        (relax.TupleType([relax.ShapeType(ndim=1)]), TupleType((ShapeType(None),))),
        (relax.FuncType([], relax.ShapeType(ndim=1)), OpaqueType()),
        (node("DTensorType", tensor_ty=relax.TensorType([4], "float32")), TensorType((FOUR,), F32, 1)),
        (node("PrimType", dtype="int64"), PrimType("int64")),
        (SHAPED_BY_ANYTHING, TensorType(None, F32, 2)),
    ],
    ids=str,
)
def test_a_type_is_read(type_: Any, found: ValueType) -> None:
    assert _reader().type(type_) == found


def test_an_extent_that_is_no_expression_of_symbols_leaves_the_rank() -> None:
    assert _reader().type(relax.TensorType(LOADED, "float32")) == TensorType(None, F32, 1)
    assert _reader().extents(LOADED) is None


def test_the_device_of_a_tensor_is_kept() -> None:
    device = node("VDevice", number=1)
    type_ = node("TensorType", dtype="float32", shape=None, vdevice=device, ndim=1)
    found = _reader().type(type_)
    assert isinstance(found, TensorType)
    assert found.device == str(device)


def test_equal_shapes_are_one_object_and_allocations_are_read_once() -> None:
    reader = _reader()
    shapes = [relax.ShapeExpr([tirx.const(4, "int64"), VAR]) for _ in range(2)]
    one, other = map(reader.extents, shapes)
    assert one is other
    assert one == (FOUR, N)
    assert reader.allocated(one, F32) is reader.allocated(one, F32)
    assert reader.allocated(one, F32) == (TensorType(one, F32, 2), 16 * N)
    assert reader.allocated(one, DType("int8", 8)) == (TensorType(one, DType("int8", 8), 2), 4 * N)


def test_a_shape_node_is_read_once() -> None:
    read: list[Any] = []

    def expr(value: Any) -> sympy.Expr:
        read.append(value)
        return FOUR

    translator: Any = SimpleNamespace(expr=expr)
    reader, shape = TypeReader(translator), relax.ShapeExpr([VAR])
    assert reader.extents(shape) == reader.extents(shape) == (FOUR,)
    assert len(read) == 1


@pytest.mark.parametrize(
    ("dtype", "found"),
    [
        ("float32", F32),
        ("int8x4", DType("int8x4", 8, 4)),
        ("float16xvscalex4", DType("float16xvscalex4", 16, 0)),
    ],
)
def test_a_dtype_is_read(dtype: str, found: DType) -> None:
    assert read_dtype(dtype) == found
    assert read_dtype(tvm.DataType(dtype) if found.lanes else dtype) is read_dtype(dtype)


@pytest.mark.parametrize(
    ("extents", "dtype", "expected"),
    [
        ((4, 3), F32, 48),
        ((), F32, 4),
        ((3,), DType("int4", 4), 2),
        ((4,), DType("int4", 4), 2),
        ((9,), DType("bool", 1), 2),
        ((8,), DType("bool", 1), 1),
        ((0,), DType("bool", 1), 0),
        ((3,), DType("int4x2", 4, 2), 3),
        ((3,), DType("int8x3", 8, 3), 9),
    ],
)
def test_bytes_are_whole(extents: tuple[int, ...], dtype: DType, expected: int) -> None:
    shape = tuple(map(sympy.Integer, extents))
    assert tensor_bytes(shape, dtype) == size_in_bytes(shape, dtype) == expected


@pytest.mark.parametrize(
    ("bits", "lanes", "expected"), [(32, 1, 4), (8, 3, 3), (4, 1, 1), (1, 1, 1), (4, 3, 2), (1, 16, 2)]
)
def test_an_element_takes_whole_bytes(bits: int, lanes: int, expected: int) -> None:
    assert DType("any", bits, lanes).storage_bytes == expected


def test_what_has_no_size_says_why() -> None:
    unknown = Unknown("nobody knows")
    assert size_in_bytes(unknown, F32) is unknown
    found = size_in_bytes((FOUR,), DType("float32xvscalex4", 32, 0))
    assert isinstance(found, Unknown)
    assert "`float32xvscalex4`" in found.reason


@pytest.mark.parametrize(("size", "pages"), [(0, 0), (1, 1), (4096, 1), (4097, 2)])
def test_the_pooled_allocator_hands_out_pages(size: int, pages: int) -> None:
    declared = sympy.Integer(size)
    assert effective_capacity(Allocator.POOLED, declared, 4096) == pages * 4096
    assert effective_capacity(Allocator.NAIVE, declared, 4096) == size
    assert effective_capacity(Allocator.POOLED, N, 4096).subs(N, declared) == pages * 4096


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (TensorType(None, None, -1), True),
        (OpaqueType(), True),
        (ShapeType(None), False),
        (PrimType("int64"), False),
        (TupleType(()), False),
        (TupleType((ShapeType(None),)), True),
    ],
)
def test_what_may_hold_memory(type_: ValueType, expected: bool) -> None:
    assert may_hold_memory(type_) is expected
