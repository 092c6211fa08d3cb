"""Calls that fill, move and multiply small matrices: every access of them against the interpreter."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import Any

import pytest
import tvm

from relax_lint.facts.kernel_access_verdicts import Status
from tests.oracle.tir.compare import Said, compare_function, judged

HEAD = """\
@T.prim_func(s_tir=True)
def f(x_: T.handle, y_: T.handle):
    n = T.int64()
    x = T.match_buffer(x_, (n * 8, 32), "float16")
    y = T.match_buffer(y_, (n,), "float16")
    S = T.alloc_buffer((64, 32), "float16", scope="shared")
    A = T.alloc_buffer((32, 32), "float16", scope="wmma.matrix_a")
    B = T.alloc_buffer((32, 32), "float16", scope="wmma.matrix_b")
    C = T.alloc_buffer((32, 32), "float16", scope="wmma.accumulator")
    M = T.alloc_buffer((16, 16), "float16", scope="metal.simdgroup")
"""
NUMBER = "F.elem_offset // F.strides[0] // T.int64({m}) * (F.strides[0] // T.int64({n})) "
NUMBER += "+ F.elem_offset % F.strides[0] // T.int64({n})"
POINTER = (
    'T.tvm_access_ptr(T.type_annotation("float16"), W.data, W.elem_offset, W.strides[0] * T.int64(16), 1)'
)


def window(name: str, source: str, at: str, extent: int = 16) -> str:
    """A tile of a buffer as a window."""
    row, column = at.split(";")
    scope = {"A": "wmma.matrix_a", "C": "wmma.accumulator", "M": "metal.simdgroup", "S": "shared"}
    place = f"{source}[{row}:{row} + {extent}, {column}:{column} + {extent}]"
    return (
        f'{name} = T.match_buffer({place}, (T.int64({extent}), T.int64({extent})), "float16", '
        f'strides=("{name}s1", "{name}s0"), scope="{scope.get(source, "global")}", offset_factor=1)'
    )


def load(
    source: str, source_at: str, array_at: str, number: str = NUMBER, stride: str = "W.strides[0]"
) -> str:
    """A tile is loaded into a matrix."""
    return f"""\
with T.sblock("load"):
    T.reads()
    T.writes()
    {window("W", source, source_at)}
    {window("F", "A", array_at)}
    T.tvm_load_matrix_sync(F.data, 16, 16, 16, {number.format(m=16, n=16)}, {POINTER}, {stride}, "row_major")
"""


def within(loops: str, body: str) -> str:
    """Statements inside of loops."""
    return f"for {loops}:\n{indent(body, '    ')}"


def flat(
    array: str, number: str, offset: str, stride: int, layout: str = "row_major", shape: str = "16, 16, 16"
) -> str:
    """Rows of `x`, without windows, are loaded into a matrix."""
    place = f'T.tvm_access_ptr(T.type_annotation("float16"), x.data, {offset}, 512, 1)'
    return f'T.tvm_load_matrix_sync({array}.data, {shape}, {number}, {place}, {stride}, "{layout}")\n'


def simd(call: str, number: str, offset: str, stride: int) -> str:
    place = f'T.tvm_access_ptr(T.type_annotation("float16"), x.data, {offset}, 64, 3)'
    return f"T.metal.{call}(M.data, {number}, {place}, {stride}, 8, 8, False)\n"


PRODUCT = "T.tvm_mma_sync(C.data, {c}, A.data, {a}, B.data, {b}, C.data, {c})\n"
FILL = "T.tvm_fill_fragment(C.data, 16, 16, 16, {c}, T.float32(0))\n"
LOADS = flat("A", "0", "0", 32) + flat("B", "0", "0", 32)
FINE = {
    "tiles of a parameter": within("i in range(n // 2)", load("x", "i * 16;16", "0;16")),
    "tiles of shared memory": within(
        "i, j in T.grid(4, 2)", load("S", "i * 16;j * 16", "(i % 2) * 16;j * 16")
    ),
    "a guard": within(
        "i in range(n)", "if i * 16 + 16 <= n * 8:\n" + indent(load("x", "i * 16;0", "0;0"), "    ")
    ),
    "rows": within("i in range(n // 2)", flat("A", "i % 4", "i * 16 * 32 + 16", 32)),
    "columns": within("i in range(n // 2)", flat("A", "i % 4", "i * 16 * 32", 32, "col_major")),
    "wide": within("i in range(n // 4)", flat("A", "i % 2", "i * 1024", 32, shape="32, 8, 16")),
    "a product": "if n >= 2:\n" + indent(LOADS + FILL.format(c=3) + PRODUCT.format(a=3, b=2, c=3), "    "),
    "metal": within("i in range(n)", simd("simdgroup_load", "i % 4", "i * 256 + 24", 32)),
    "metal, stored": within("i in range(n)", simd("simdgroup_store", "i % 4", "i * 256 + 24", 32)),
    "metal, filled": "T.metal.make_filled_simdgroup_matrix(M.data, 3, T.float16(0), 8, 8)\n",
    "metal, a product": "T.metal.simdgroup_multiply_accumulate(M.data, 0, M.data, 1, M.data, 2, M.data, 3)\n",
}
TWINS = {
    "tiles of a parameter": (within("i in range((n + 1) // 2)", load("x", "i * 16;16", "0;16")), "W"),
    "tiles of shared memory": (within("i, j in T.grid(5, 2)", load("S", "i * 16;j * 16", "0;j * 16")), "W"),
    "a guard": (
        within("i in range(n)", "if i * 16 + 8 <= n * 8:\n" + indent(load("x", "i * 16;0", "0;0"), "    ")),
        "W",
    ),
    "too far right": (within("i in range(n // 2)", load("x", "i * 16;17", "0;0")), "W"),
    "rows": (within("i in range(n // 2)", flat("A", "i % 4", "i * 16 * 32 + 17", 32)), "x"),
    "a larger stride": (within("i in range(n // 2)", flat("A", "i % 4", "i * 16 * 32", 34)), "x"),
    "columns": (within("i in range(n // 2)", flat("A", "i % 4", "i * 16 * 32 + 32", 32, "col_major")), "x"),
    "wide": (within("i in range(n // 2)", flat("A", "i % 2", "i * 512", 32, shape="32, 8, 16")), "x"),
    "another number": (within("i in range(n // 2)", flat("A", "i % 5", "i * 512", 32)), "A"),
    "a product": (
        "if n >= 2:\n" + indent(LOADS + FILL.format(c=3) + PRODUCT.format(a=4, b=2, c=3), "    "),
        "A",
    ),
    "a negative number": (within("i in range(n // 2)", flat("A", "i - 1", "i * 512", 32)), "A"),
    "metal": (within("i in range(n)", simd("simdgroup_load", "i % 4", "i * 256 + 25", 32)), "x"),
    "metal, stored": (within("i in range(n)", simd("simdgroup_store", "i % 4", "i * 257", 32)), "x"),
    "metal, filled": ("T.metal.make_filled_simdgroup_matrix(M.data, 4, T.float16(0), 8, 8)\n", "M"),
    "metal, a product": (
        "T.metal.simdgroup_multiply_accumulate(M.data, 0, M.data, 1, M.data, 2, M.data, 4)\n",
        "M",
    ),
}
UNKNOWN = {
    "another number of a window": load("S", "0;0", "0;0", number="F.elem_offset // T.int64(256)"),
    "another stride": load("S", "0;0", "0;0", stride="32"),
    "smaller tiles than matrices": load("S", "0;0", "0;0", number=NUMBER.format(m=16, n=8)),
    "no number of a window": load("S", "0;0", "0;0", number="0"),
    "less than the buffer": """\
with T.sblock("load"):
    T.reads(S[0:16, 0:32])
    T.writes(A[0:32, 0:32])
    T.tvm_load_matrix_sync(
        A.data, 16, 16, 16, 3,
        T.tvm_access_ptr(T.type_annotation("float16"), S.data, 1024, 512, 1), 32, "row_major")
""",
    "fewer matrices than the array has": """\
with T.sblock("load"):
    T.reads(S[0:64, 0:32])
    T.writes(A[0:16, 0:16])
    T.tvm_load_matrix_sync(
        A.data, 16, 16, 16, 3,
        T.tvm_access_ptr(T.type_annotation("float16"), S.data, 1024, 512, 1), 32, "row_major")
""",
    "gaps between elements": """\
for i, j in T.grid(64, 32):
    with T.sblock("store"):
        T.reads()
        T.writes(S[i, j])
        T.sblock_attr({"buffer_dim_align": [[0, 1, 16, 8]]})
        S[i, j] = T.float16(0)
"""
    + load("S", "0;0", "0;0"),
    "another type": flat("A", "0", "0", 32).replace('"float16"', '"float32"'),
    "extents that differ": flat("A", "0", "0", 32) + flat("A", "0", "0", 32, shape="8, 32, 16"),
    "extents that nobody tells": PRODUCT.format(a=0, b=0, c=0),
}


SILENT = {
    "stored for a matrix": """\
for i, j in T.grid(64, 32):
    S[i, j] = T.float16(0)
"""
    + load("S", "0;0", "0;0"),
    "stored from a matrix": f"""\
with T.sblock("store"):
    T.reads()
    T.writes()
    {window("W", "S", "0;0")}
    {window("F", "C", "0;0")}
    T.tvm_store_matrix_sync(F.data, 16, 16, 16, {NUMBER.format(m=16, n=16)}, {POINTER}, W.strides[0], "row_major")
for i in range(n):
    y[i] = S[i % 16, 0]
""",
    "by an address": """\
for i, j in T.grid(64, 32):
    S[i, j] = T.float16(0)
T.tvm_load_matrix_sync(A.data, 16, 16, 16, 0, T.address_of(S[0, 0]), 32, "row_major")
""",
}


ROWS_WITH_GAPS = """\
for i, j in T.grid(64, 32):
    with T.sblock("store"):
        T.reads()
        T.writes(S[i, j])
        T.sblock_attr({"buffer_dim_align": [[0, 0, 16, 8]]})
        S[i, j] = T.float16(0)
"""
NARROW = load("x", "i * 8;0", "0;0").replace("(T.int64(16), T.int64(16))", "(16, 16)", 1)
NARROW = within("i in range(n - 1)", NARROW.replace("W.strides[0] * T.int64(16)", "W.strides[0] * 16"))


def function(body: str) -> Any:
    """A kernel with these statements."""
    return tvm.script.from_source(HEAD + indent(dedent(body), "    "))


def open_buffers(said: Said) -> set[str]:
    """The names of the buffers with accesses that are not proved."""
    return {one.access.buffer.name for one in said.opened if one.status is not Status.PROVED}


@pytest.mark.parametrize("name", FINE)
def test_what_stays_inside_is_proved(name: str) -> None:
    kernel = function(FINE[name])
    said = judged(kernel)
    assert not open_buffers(said)
    assert said.proved or said.opened
    compare_function(kernel)


@pytest.mark.parametrize("name", TWINS)
def test_a_defective_twin_is_not(name: str) -> None:
    body, buffer = TWINS[name]
    kernel = function(body)
    assert open_buffers(judged(kernel)) == {buffer}
    compare_function(kernel)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_written_otherwise_is_not_known(name: str) -> None:
    said = judged(function(UNKNOWN[name]))
    assert Status.UNDECIDED in {one.status for one in said.opened}


@pytest.mark.parametrize("name", SILENT)
def test_what_they_touch_is_not_called_unused_or_unwritten(name: str) -> None:
    inside = judged(function(SILENT[name])).inside
    assert not inside.races
    assert not inside.unwritten_reads
    assert "S" not in {one.buffer for one in inside.unused}
    compare_function(function(SILENT[name]))


def test_gaps_between_rows_do_no_harm() -> None:
    kernel = function(ROWS_WITH_GAPS + load("S", "0;0", "0;0"))
    assert not open_buffers(judged(kernel))
    compare_function(kernel)


def test_where_a_window_begins_must_fit_into_its_type() -> None:
    (one,) = judged(function(NARROW)).opened
    assert (one.access.buffer.name, one.status) == ("W", Status.LIMITED)
    assert "32-bit" in one.reason
