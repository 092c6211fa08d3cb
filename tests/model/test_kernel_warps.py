"""Calls that the threads of a warp make together: every access of them against the interpreter."""

from __future__ import annotations

from textwrap import indent
from typing import Any

import pytest
import tvm
from tvm.script import tirx

from relax_lint.facts.kernel_access_verdicts import Status
from tests.oracle.tir.compare import compare_function, judged

HEAD = """\
@T.prim_func(s_tir=True)
def f(x_: T.handle, y_: T.handle):
    n = T.int64()
    x = T.match_buffer(x_, (n, 128), "float16")
    y = T.match_buffer(y_, (n,), "float16")
    S = T.alloc_buffer((32, 64), "float16", scope="shared")
    W = T.alloc_buffer((2, 2, 32, 8), "float16", scope="warp")
    I = T.alloc_buffer((64, 32), "int8", scope="shared")
    J = T.alloc_buffer((2, 32, 16), "int8", scope="warp")
    A = T.alloc_buffer((8,), "float16", scope="local")
    B = T.alloc_buffer((4,), "float16", scope="local")
    C = T.alloc_buffer((4,), "float32", scope="local")
"""
IS_OLD = not hasattr(tirx, "ptx_legacy")
LDMATRIX = "T.ptx.ldmatrix_legacy" if IS_OLD else "T.ptx_legacy.ldmatrix"
MMA = "T.ptx.mma.legacy" if IS_OLD else "T.ptx_legacy.mma"
THREADS = 'for tx in T.thread_binding(T.int64({n}), thread="threadIdx.x"):\n'
POINTER = 'T.tvm_access_ptr(T.type_annotation("float16"), {name}.data, {name}.elem_offset, {name}.strides[0] * T.int64(16), 3)'


def threads(body: str, number: int = 32) -> str:
    """Statements of each thread of a warp."""
    return THREADS.format(n=number) + indent(body, "    ")


def block(body: str) -> str:
    """Statements in a block."""
    return 'with T.sblock("b"):\n    T.reads()\n    T.writes()\n' + indent(body, "    ")


def warp(i: str = "0", lanes: str = "0:32", width: str = "0:8") -> str:
    """The registers of a warp, as a window."""
    return (
        f'w = T.match_buffer(W[{i}, 1, {lanes}, {width}], (T.int64(32), T.int64(8)), "float16", '
        'scope="warp", offset_factor=1)\n'
    )


def tile(source: str, row: str, column: str, scope: str) -> str:
    """A tile of 16 x 16 elements, as a window."""
    return (
        f"t = T.match_buffer({source}[{row}:{row} + 16, {column}:{column} + 16], (T.int64(16), T.int64(16)), "
        f'"float16", strides=("s0", "s1"), scope="{scope}", offset_factor=1)\n'
    )


def load(row: str = "16", column: str = "48", offset: str = "8 * tx", smem: str = "") -> str:
    """`ldmatrix` of a tile of shared memory."""
    smem = smem or "t.strides[0] * (tx % 16) + 8 * (tx // 16)"
    text = (
        f'{LDMATRIX}(False, 4, ".b16", w.data, w.elem_offset + {offset}, {POINTER.format(name="t")}, {smem}, '
    )
    return warp("1") + tile("S", row, column, "shared") + text + 'dtype="float16")\n'


def store(row: str = "i * 16", offset: str = "w.elem_offset", stride: str = "t.strides[0]") -> str:
    """`mma_store` to a tile of a parameter."""
    text = f'T.cuda.mma_store_legacy(16, 16, {POINTER.format(name="t")}, w.data, {offset}, {stride}, dtype="float16")\n'
    return warp("1") + tile("x", row, "112", "global") + text


def product(a: str, b: str, c: str) -> str:
    """A product of registers."""
    head = f'{MMA}("m16n8k16", "row", "col", "fp16", "fp16", "fp32", '
    return f'{head}A.data, {a}, B.data, {b}, C.data, {c}, False, dtype="float32")\n'


def gather(stride: str = "t.strides[0]", offset: str = "w.elem_offset + 16 * tx", row: str = "32") -> str:
    """`ldmatrix` of bytes, which cannot be transposed: they are gathered one by one."""
    windows = (
        'w = T.match_buffer(J[1, 0:32, 0:16], (T.int64(32), T.int64(16)), "int8", scope="warp", offset_factor=1)\n'
        f't = T.match_buffer(I[{row}:{row} + 32, 16:32], (T.int64(32), T.int64(16)), "int8", '
        'strides=("s0", "s1"), scope="shared", offset_factor=1)\n'
    )
    pointer = POINTER.format(name="t").replace("float16", "int8")
    return windows + f'{LDMATRIX}(True, 4, ".b16", w.data, {offset}, {pointer}, {stride}, dtype="int8")\n'


COPIES = """\
@T.prim_func(s_tir=True)
def f(x_: T.handle, y_: T.handle):
    n = T.int64()
    x = T.match_buffer(x_, (n * 8,), "float16")
    y = T.match_buffer(y_, (n,), "float16")
    S = T.alloc_buffer((256,), "float16", scope="shared")
    for i in range(n):
        with T.attr("default", "async_scope", 1):
            S[T.Ramp({to}, 1, 8)] = {given}
"""


def copies(to: str, given: str) -> Any:
    """A kernel of asynchronous copies, as a pass of TVM makes them."""
    module = tvm.IRModule({"f": tvm.script.from_source(COPIES.format(to=to, given=given))})
    return tvm.s_tir.transform.InjectPTXAsyncCopy()(module)["f"]


def fill(offset: str = "w.elem_offset", length: int = 8) -> str:
    return warp("1") + f'T.cuda.mma_fill_legacy({length}, w.data, {offset}, dtype="float16")\n'


def within(loops: str, body: str) -> str:
    """Statements inside of a loop."""
    return f"for {loops}:\n{indent(body, '    ')}"


FINE = {
    "ldmatrix": threads(block(load())),
    "mma_store": within("i in range(n // 16)", threads(block(store()))),
    "mma_fill": threads(block(fill())),
    "mma": product("0", "0", "0"),
    "bytes": threads(block(gather())),
}
TWINS = {
    "ldmatrix, a row too far": (threads(block(load(row="17"))), "t"),
    "ldmatrix, a column too far": (threads(block(load(column="49"))), "t"),
    "ldmatrix, eight more columns": (
        threads(block(load(smem="t.strides[0] * (tx % 16) + 8 * (tx // 8)"))),
        "t",
    ),
    "ldmatrix, more rows": (threads(block(load(smem="t.strides[0] * tx"))), "t"),
    "ldmatrix, registers of another thread": (threads(block(load(offset="8 * tx + 4"))), "w"),
    "ldmatrix, another warp": (threads(block(load(offset="16 * tx"))), "w"),
    "mma_store": (within("i in range((n + 1) // 16)", threads(block(store()))), "t"),
    "mma_fill": (threads(block(fill(length=16))), "w"),
    "bytes, a row too far": (threads(block(gather(row="33"))), "t"),
    "bytes, registers of another thread": (threads(block(gather(offset="w.elem_offset + 16 * tx + 1"))), "w"),
    "mma, A": (product("1", "0", "0"), "A"),
    "mma, B": (product("0", "2", "0"), "B"),
    "mma, C": (product("0", "0", "-1"), "C"),
}
UNKNOWN = {
    "strides that are numbers": threads(
        block(load(smem="64 * (tx % 16) + 8 * (tx // 16)").replace('strides=("s0", "s1")', "strides=(64, 1)"))
    ),
    "another stride of bytes": threads(block(gather(stride="32"))),
    "threads that give no address": threads(
        block(load().replace("False, 4,", "False, 2,").replace("8 * (tx // 16)", "16 * (tx // 16)"))
    ),
    "another stride": within("i in range(n // 16)", threads(block(store(stride="128")))),
    "more threads than a warp has": within("i in range(n // 16)", threads(block(store()), 64)),
    "half of the registers": threads(
        block(fill().replace("0:8]", "0:4]").replace("T.int64(8)", "T.int64(4)"))
    ),
    "memory of a warp without a window": threads(
        'T.cuda.mma_fill_legacy(8, W.data, tx * 8, dtype="float16")\n'
    ),
}


def function(body: str) -> Any:
    """A kernel with these statements."""
    return tvm.script.from_source(HEAD + indent(body, "    "))


def open_buffers(body: str) -> set[str]:
    """The names of the buffers with accesses that are not proved."""
    said = judged(function(body))
    return {one.access.buffer.name for one in said.opened if one.status is not Status.PROVED}


@pytest.mark.parametrize("name", FINE)
def test_what_stays_inside_is_proved(name: str) -> None:
    assert not open_buffers(FINE[name])
    compare_function(function(FINE[name]))


@pytest.mark.parametrize("name", TWINS)
def test_a_defective_twin_is_not(name: str) -> None:
    body, buffer = TWINS[name]
    assert open_buffers(body) == {buffer}
    compare_function(function(body))


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_written_otherwise_is_not_known(name: str) -> None:
    said = judged(function(UNKNOWN[name]))
    assert Status.UNDECIDED in {one.status for one in said.opened}


VECTOR = "x[T.Ramp({}, 1, 8)]"
GUARDED = "T.if_then_else(i < n - 1, x[T.Ramp({}, 1, 8)], T.Broadcast(T.float16(0), 8))"


@pytest.mark.parametrize(
    ("to", "given", "buffers"),
    [
        ("i % 32 * 8", VECTOR.format("i * 8"), set()),
        ("i % 32 * 8 + 1", VECTOR.format("i * 8"), {"S"}),
        ("i % 32 * 8", VECTOR.format("i * 8 + 1"), {"x"}),
        ("i % 32 * 8", VECTOR.format("i * 8 - 1"), {"x"}),
        ("i % 32 * 8", GUARDED.format("i * 8 + 8"), set()),
        ("i % 32 * 8", GUARDED.format("i * 8 + 9"), {"x"}),
        ("i % 32 * 8 + 1", GUARDED.format("i * 8"), {"S"}),
    ],
)
def test_asynchronous_copies(to: str, given: str, buffers: set[str]) -> None:
    kernel = copies(to, given)
    assert "cp_async" in kernel.script()
    said = judged(kernel)
    assert {one.access.buffer.name for one in said.opened if one.status is not Status.PROVED} == buffers
    compare_function(kernel)
