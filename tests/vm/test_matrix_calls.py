"""Calls on small matrices and by the threads of a warp: what they touch, by their arguments."""

from __future__ import annotations

from typing import Any

import pytest

from relax_lint.vm.matrix_calls import Matrix, MatrixCall, Rows, extents_of, matrix_call
from relax_lint.vm.warp_calls import Part, Pattern, Tile, WarpCall, warp_call
from tests.vm.nodes_of import call, node, number, text

A, N, P, S, V = (node("Var", name=name) for name in "ANPSV")
B, J, C, K, D, L = (node("Var", name=name) for name in "BJCKDL")
SHAPE = number(16), number(8), number(32)
EIGHT = number(8)
READ, WRITTEN = Matrix(A, N, False), Matrix(A, N, True)
PRODUCT = (Matrix(B, J, False), Matrix(C, K, False), Matrix(D, L, False), WRITTEN)


def _move(name: str, layout: Any, *shape: Any) -> Any:
    return call(f"tirx.{name}", A, *(shape or SHAPE), N, P, S, layout)


@pytest.mark.parametrize(
    ("called", "found"),
    [
        (
            call("tirx.tvm_fill_fragment", A, *SHAPE, N, V),
            MatrixCall("tvm_fill_fragment", (WRITTEN,), (16, 8, 32), None, (V,)),
        ),
        (call("tirx.tvm_fill_fragment", A, number(16), V, number(32), N, V), None),
        (call("tirx.tvm_fill_fragment", A, number(16), number(0), number(32), N, V), None),
        (call("tirx.tvm_fill_fragment", A, number(1), number(1), number(1), N), None),
        (
            _move("tvm_load_matrix_sync", text("row_major")),
            MatrixCall("tvm_load_matrix_sync", (WRITTEN,), (16, 8, 32), Rows(P, S, False, False)),
        ),
        (
            _move("tvm_store_matrix_sync", text("col_major")),
            MatrixCall("tvm_store_matrix_sync", (READ,), (16, 8, 32), Rows(P, S, True, True)),
        ),
        (_move("tvm_load_matrix_sync", text("diagonal")), None),
        (_move("tvm_load_matrix_sync", V), None),
        (_move("tvm_load_matrix_sync", text("row_major"), V, number(8), number(8)), None),
        (call("tirx.tvm_mma_sync", A, N, B, J, C, K, D, L), MatrixCall("tvm_mma_sync", PRODUCT, None)),
        (
            call("metal.simdgroup_multiply_accumulate", A, N, B, J, C, K, D, L),
            MatrixCall("simdgroup_multiply_accumulate", PRODUCT, (8, 8, 8)),
        ),
        (
            call("metal.make_filled_simdgroup_matrix", A, N, V, EIGHT, EIGHT),
            MatrixCall("make_filled_simdgroup_matrix", (WRITTEN,), (8, 8, 8), None, (V,)),
        ),
        (call("metal.make_filled_simdgroup_matrix", A, N, V, EIGHT, number(16)), None),
        (call("metal.make_filled_simdgroup_matrix", A, N, V, V, EIGHT), None),
        (
            call("metal.simdgroup_load", A, N, P, S, EIGHT, EIGHT, V),
            MatrixCall("simdgroup_load", (WRITTEN,), (8, 8, 8), Rows(P, S, False, False)),
        ),
        (
            call("metal.simdgroup_store", A, N, P, S, EIGHT, EIGHT, V),
            MatrixCall("simdgroup_store", (READ,), (8, 8, 8), Rows(P, S, False, True)),
        ),
        (call("metal.simdgroup_store", A, N, P, S, number(4), EIGHT, V), None),
        (call("tirx.exp", A), None),
        (node("Call", op=A, args=(A,)), None),
    ],
)
def test_what_a_call_on_matrices_touches(called: Any, found: MatrixCall | None) -> None:
    assert matrix_call(called) == found


@pytest.mark.parametrize(
    ("scope", "shape", "extents"),
    [
        ("wmma.matrix_a", (16, 8, 32), (16, 32)),
        ("wmma.matrix_b", (16, 8, 32), (32, 8)),
        ("wmma.accumulator", (16, 8, 32), (16, 8)),
        ("wmma.accumulator", None, None),
        ("metal.simdgroup", (8, 8, 8), (8, 8)),
        ("metal.simdgroup", (16, 8, 32), None),
        ("wmma.matrix_a", (8, 8, 8), (8, 8)),
        ("local", (8, 8, 8), None),
    ],
)
def test_the_extents_of_a_matrix(
    scope: str, shape: tuple[int, int, int] | None, extents: tuple[int, int] | None
) -> None:
    assert extents_of(scope, shape) == extents


def _product(shape: str, *widths: str, name: str = "ptx_legacy.mma") -> Any:
    types = (text(one) for one in widths)
    fixed = text(shape), text("row"), text("col")
    return call(f"tirx.{name}", *fixed, *types, A, N, B, J, C, K, V)


def _parts(*bits: int) -> tuple[Part, ...]:
    stores = (False, False, False, True)
    operands = ((A, N), (B, J), (C, K), (C, K))
    return tuple(
        Part(*operand, one, bits=width) for operand, one, width in zip(operands, stores, bits, strict=True)
    )


def _load(transposed: int, count: Any, dtype: str) -> Any:
    type_ = node("PrimType", dtype=dtype)
    return call("tirx.ptx_legacy.ldmatrix", number(transposed), count, text(".b16"), A, N, P, S, ty=type_)


@pytest.mark.parametrize(
    ("called", "found"),
    [
        # m * k, k * n and m * n elements, of 16, 16 and 32 bits, over 32 threads.
        (
            _product("m16n8k16", "fp16", "fp16", "fp32"),
            WarpCall("mma", _parts(128, 64, 128, 128)),
        ),
        # Of this shape a warp makes four at once: 8 threads share one.
        (_product("m8n8k4", "fp16", "fp16", "fp32"), WarpCall("mma", _parts(64, 64, 256, 256))),
        (_product("m8n8k4", "fp64", "fp64", "fp64"), WarpCall("mma", _parts(64, 64, 128, 128))),
        (_product("16x8x16", "fp16", "fp16", "fp32"), None),
        (_product("m16n8k16x", "fp16", "fp16", "fp32"), None),
        (_product("m16n8k16", "fp16", "int4", "fp32"), None),
        (call("tirx.ptx_legacy.mma", text("m16n8k16")), None),
        (
            _load(0, number(4), "float16"),
            WarpCall("ldmatrix", (Part(A, N, True, bits=128), Part(P, S, False, bits=128))),
        ),
        (
            _load(0, number(2), "float16"),
            WarpCall("ldmatrix", (Part(A, N, True, bits=64), Part(P, S, False, bits=128, surely=False))),
        ),
        (
            _load(1, number(1), "float16"),
            WarpCall("ldmatrix", (Part(A, N, True, bits=32), Part(P, S, False, bits=128, surely=False))),
        ),
        (_load(0, number(3), "float16"), None),
        (_load(0, V, "float16"), None),
        (
            _load(1, number(4), "int8"),
            WarpCall("ldmatrix", (Part(A, N, True, elements=16),), Tile(P, S, Pattern.GATHERED, False)),
        ),
        (
            _load(0, number(4), "int8"),
            WarpCall("ldmatrix", (Part(A, N, True, bits=128), Part(P, S, False, bits=128))),
        ),
        # What the code for this one does is not known.
        (_load(1, number(4), "float8_e4m3fn"), None),
        (_load(1, number(4), "float8"), None),
        (
            _load(0, number(4), "float8_e4m3fn"),
            WarpCall("ldmatrix", (Part(A, N, True, bits=128), Part(P, S, False, bits=128))),
        ),
        (
            call("tirx.mma_store", number(16), number(16), P, A, N, S),
            WarpCall("mma_store", (Part(A, N, False, elements=8),), Tile(P, S, Pattern.STORED, True)),
        ),
        (call("tirx.mma_store", number(16), number(8), P, A, N, S), None),
        (call("tirx.mma_store", V, number(16), P, A, N, S), None),
        (call("tirx.mma_fill", V, A, N), WarpCall("mma_fill", (Part(A, N, True, elements=V),))),
        (
            call("tirx.ptx.cp_async_raw", A, N, P, S, number(16)),
            WarpCall("cp_async_raw", (Part(P, S, False, bits=128), Part(A, N, True, bits=128))),
        ),
        (
            call("tirx.ptx.cp_async_raw", A, N, P, S, number(4), V),
            WarpCall("cp_async_raw", (Part(P, S, False, bits=32, guard=V), Part(A, N, True, bits=32))),
        ),
        (call("tirx.ptx.cp_async_raw", A, N, P, S, number(2)), None),
        (call("tirx.ptx.cp_async_raw", A, N, P, S, V), None),
        (call("tirx.exp", A), None),
        (node("Call", op=A, args=(A,)), None),
    ],
)
def test_what_a_thread_of_a_warp_touches(called: Any, found: WarpCall | None) -> None:
    assert warp_call(called) == found


@pytest.mark.parametrize(
    ("names", "bits"),
    [
        ("int8 uint8 .s8 .u8 e4m3 e5m2 .e4m3 .e5m2 float8_e4m3fn float8_e5m2", 8),
        ("float16 fp16 .f16 bfloat16 bf16 .b16", 16),
        ("float32 fp32 .f32 tf32 int32 .s32", 32),
        ("float64 fp64 .f64", 64),
        ("int4 float4 .b1 e3m2 8", None),
    ],
)
def test_how_many_bits_an_element_has(names: str, bits: int | None) -> None:
    """A thread has a share of m * k = 512, k * n = 256 and m * n = 128 elements, of which 32 are one each."""
    for name in names.split():
        found = warp_call(_product("m16n8k32", name, name, "fp32"))
        expected = None if bits is None else WarpCall("mma", _parts(16 * bits, 8 * bits, 128, 128))
        assert found == expected, name


@pytest.mark.parametrize(
    ("name", "older", "arguments"),
    [
        ("ptx_legacy.mma", "ptx.mma_legacy", _product("m16n8k16", "fp16", "fp16", "fp32").args),
        ("ptx_legacy.ldmatrix", "ptx.ldmatrix_legacy", _load(0, number(4), "float16").args),
        ("mma_store", "mma_store_legacy", (number(16), number(16), P, A, N, S)),
        ("mma_fill", "mma_fill_legacy", (V, A, N)),
        ("s_tir.cp_async_raw", "ptx.cp_async_raw", (A, N, P, S, number(16))),
    ],
)
def test_a_call_has_another_name_in_another_release(name: str, older: str, arguments: Any) -> None:
    type_ = node("PrimType", dtype="float16")
    one, two = (warp_call(call(f"tirx.{each}", *arguments, ty=type_)) for each in (name, older))
    assert one is not None
    assert two is not None
    assert (one.parts, one.tile) == (two.parts, two.tile)


def test_what_is_not_a_constant_says_nothing_of_a_load() -> None:
    unknown = call(
        "tirx.ptx_legacy.ldmatrix", V, number(4), text(".b16"), A, N, P, S, ty=node("PrimType", dtype="int8")
    )
    assert warp_call(unknown) is None


def test_a_function_without_the_names_of_its_widths_is_not_known() -> None:
    unknown = call("tirx.ptx_legacy.mma", text("m16n8k16"), *(V,) * 12)
    assert warp_call(unknown) is None
    assert warp_call(call("tirx.ptx_legacy.mma", V, *(text("fp16"),) * 12)) is None
