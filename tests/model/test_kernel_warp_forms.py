"""Calls that the threads of a warp make together, written in many ways: elements behind a pointer, or tiles of which each
thread touches a part; where one of both cannot be told nothing is known.
"""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.model.test_kernel_matrix_forms import OPEN, PASSED, PROVED
from tests.model.test_kernel_matrix_forms import said as said_with
from tests.model.test_kernel_warps import HEAD, POINTER, block, product, threads, tile, warp

MEMORY = 'T.tvm_access_ptr(T.type_annotation("float16"), S.data, {}, 512, 3)'
IN_TILE = POINTER.format(name="t")
DECLARED = 'with T.sblock("b"):\n    T.reads()\n    T.writes({})\n'


def said(body: str) -> dict[str, str]:
    """By buffer what is said of its accesses."""
    return said_with(body, HEAD)


def fill(pointer: str = "A.data", offset: str = "0", length: int | str = 8) -> str:
    """So many elements from an offset behind a pointer on."""
    return f'T.cuda.mma_fill_legacy({length}, {pointer}, {offset}, dtype="float16")\n'


def store(pointer: str = IN_TILE, stride: str = "t.strides[0]", shown: str | None = None) -> str:
    """A tile of 16 x 16 elements from a pointer on."""
    shown = tile("S", "16", "16", "shared") if shown is None else shown
    call = f"T.cuda.mma_store_legacy(16, 16, {pointer}, w.data, w.elem_offset, {stride}, "
    return warp("1") + shown + call + 'dtype="float16")\n'


def flat(position: int, stride: str = "64") -> str:
    return threads(block(store(MEMORY.format(position), stride, "")))


def registers(region: str, shape: str) -> str:
    """The registers of a warp, as a window without strides."""
    return f'w = T.match_buffer(W[{region}], {shape}, "float16", scope="warp", offset_factor=1)\n'


def strided(call: str, source: str = "S", scope: str = "shared", strides: str = '("s0", "s1")') -> str:
    """A window of 16 x 16 elements that has strides."""
    text = f'w = T.match_buffer({source}[0:16, 0:16], (T.int64(16), T.int64(16)), "float16", '
    return threads(block(f'{text}strides={strides}, scope="{scope}", offset_factor=1)\n{call}'))


def operand(declared: str, name: str) -> str:
    """A product of which the first operand is another buffer."""
    return f"{declared}\n" + product("0", "0", "0").replace("A.data", f"{name}.data")


PARTS = {
    "all": (fill(), {"A": PROVED}),
    "one more": (fill(length=9), {"A": OPEN}),
    "one further": (fill(offset="1"), {"A": OPEN}),
    "the last one": (fill(offset="7", length=1), {"A": PROVED}),
    "one before the first one": (fill(offset="-1", length=1), {"A": OPEN}),
    "so many as a size says": (fill(length="n"), {"A": PASSED}),
    "none": (fill(length=0), {"A": PASSED}),
    "a negative number": (fill(length=-1), {"A": PASSED}),
    "an offset with a fraction": (fill(offset="T.float32(0)"), {"A": PASSED}),
    "by an address": (fill("T.address_of(B[0])", length=4), {"B": PROVED}),
    "by a pointer": (fill(MEMORY.format(2044), length=4), {"S": PROVED}),
    "by a pointer, one further": (fill(MEMORY.format(2044), "1", 4), {"S": OPEN}),
    # An access that is passed to what gives the pointer.
    "by a pointer that something gives": (fill("T.call_extern('handle', 'g', y[n])"), {"y": PASSED}),
    "operands of a product": (product("0", "0", "0"), {"A": PROVED, "B": PROVED, "C": PROVED}),
    "of another type": (
        product("0", "0", "0").replace("A.data", "I.data"),
        {"I": PROVED, "B": PROVED, "C": PROVED},
    ),
    "of a type that does not divide a register": (
        operand('Z = T.alloc_buffer((9,), "float64x3", scope="local")', "Z"),
        {"Z": PASSED, "B": PROVED, "C": PROVED},
    ),
    "of half bytes": (
        operand('Z = T.alloc_buffer((32,), "int4", scope="local")', "Z"),
        {"Z": PROVED, "B": PROVED, "C": PROVED},
    ),
    "of too few half bytes": (
        operand('Z = T.alloc_buffer((31,), "int4", scope="local")', "Z"),
        {"Z": OPEN, "B": PROVED, "C": PROVED},
    ),
    "of a view": (
        operand('D = T.decl_buffer((8,), "float16", data=A.data, scope="local")', "D"),
        {"D": PASSED, "B": PROVED, "C": PROVED},
    ),
    "all that a block declares": (
        DECLARED.format("S[0:32, 0:64]") + indent(fill("S.data"), "    "),
        {"S": PROVED},
    ),
    "of what a block declares a part": (
        DECLARED.format("S[0:16, 0:64]") + indent(fill("S.data"), "    "),
        {"S": PASSED},
    ),
}
"""Elements one behind the other: what each thread touches, and what is said of it."""

OF_A_WARP = registers("0, 1, 0:32, 0:8", "(T.int64(32), T.int64(8))")
WINDOWS = {
    "its first row": (threads(block(OF_A_WARP + fill("w.data", "w.elem_offset"))), PROVED),
    "a row of each thread": (threads(block(OF_A_WARP + fill("w.data", "w.elem_offset + 8 * tx"))), PROVED),
    "one row further": (threads(block(OF_A_WARP + fill("w.data", "w.elem_offset + 8 * (tx + 1)"))), OPEN),
    "nobody knows from where on": (threads(block(OF_A_WARP + fill("w.data"))), PASSED),
    "twice where it begins": (threads(block(OF_A_WARP + fill("w.data", "w.elem_offset * 2"))), PASSED),
    "the square of that": (
        threads(block(OF_A_WARP + fill("w.data", "w.elem_offset * w.elem_offset"))),
        PASSED,
    ),
    "an element": (threads(block(OF_A_WARP + fill("T.address_of(w[0, 0])", length=4))), PROVED),
    "an element of another row": (
        threads(block(OF_A_WARP + fill("T.address_of(w[1, 0])", length=4))),
        PASSED,
    ),
    "an element of another column": (
        threads(block(OF_A_WARP + fill("T.address_of(w[0, 1])", length=4))),
        PASSED,
    ),
    "three axes": (
        threads(
            block(
                registers("0:1, 1, 0:32, 0:8", "(T.int64(1), T.int64(32), T.int64(8))")
                + fill("w.data", "w.elem_offset")
            )
        ),
        PASSED,
    ),
    "a part of the rows": (
        threads(
            block(
                registers("0, 1, 0:32, 1:8", "(T.int64(32), T.int64(7))") + fill("w.data", "w.elem_offset", 7)
            )
        ),
        PASSED,
    ),
    "rows of any length": (
        threads(block(registers("0, 1, 0:32, 0:n", "(T.int64(32), n)") + fill("w.data", "w.elem_offset", 7))),
        PASSED,
    ),
    "by a stride": (strided(fill("w.data", "w.elem_offset + w.strides[0] * 3 + 8")), PROVED),
    "by a stride, a column too far": (
        strided(fill("w.data", "w.elem_offset + w.strides[0] * 3 + 9")),
        OPEN,
    ),
    "by a stride, a row too far": (strided(fill("w.data", "w.elem_offset + w.strides[0] * 16")), OPEN),
    "by its square": (strided(fill("w.data", "w.elem_offset + w.strides[0] * w.strides[0]")), PASSED),
    # Which row it is in is not known: it is no column of the first one.
    "by a stride that is a number": (
        strided(fill("w.data", "w.elem_offset + 3 * 64 + 8"), strides="(64, 1)"),
        PASSED,
    ),
    "by a stride with a name": (
        strided(fill("w.data", "w.elem_offset + n * 3 + 8"), strides="(n, T.int64(1))"),
        PROVED,
    ),
    # Row 2 + 3, columns 4 + 4 to 15.
    "behind an element": (strided(fill("T.address_of(w[2, 4])", "w.strides[0] * 3 + 4")), PROVED),
    "behind an element, a column too far": (
        strided(fill("T.address_of(w[2, 4])", "w.strides[0] * 3 + 5")),
        OPEN,
    ),
    "behind an element, a row too far": (
        strided(fill("T.address_of(w[2, 4])", "w.strides[0] * 14 + 4")),
        OPEN,
    ),
    "of a tensor with gaps": (
        'D = T.match_buffer(y_, (64, 32), "float16", strides=[40, 1])\n'
        + strided(fill("w.data", "w.elem_offset + w.strides[0] * 3 + 8"), "D", "global"),
        PASSED,
    ),
}

TILES = {
    "a tile": (threads(block(store())), {"w": PROVED, "t": PROVED}),
    "by an element": (threads(block(store("T.address_of(t[0, 0])"))), {"w": PROVED, "t": PROVED}),
    "by one of another row": (threads(block(store("T.address_of(t[1, 0])"))), {"w": PROVED, "t": OPEN}),
    "by one of another column": (threads(block(store("T.address_of(t[0, 1])"))), {"w": PROVED, "t": OPEN}),
    "a row too far": (
        threads(block(store(shown=tile("S", "17", "0", "shared")))),
        {"w": PROVED, "t": OPEN},
    ),
    "by a pointer": (flat(0), {"w": PROVED, "S": PROVED}),
    # Row 16, columns 48 to 63: the last element is 2,047.
    "the last one": (flat(1024 + 48), {"w": PROVED, "S": PROVED}),
    "a column further": (flat(1024 + 49), {"w": PROVED, "S": OPEN}),
    "a row further": (flat(1024 + 64), {"w": PROVED, "S": OPEN}),
    "a column before the first one": (flat(-1), {"w": PROVED, "S": OPEN}),
    "a larger stride": (flat(1024 + 48, "65"), {"w": PROVED, "S": OPEN}),
    "upwards": (flat(15 * 64, "-64"), {"w": PROVED, "S": PROVED}),
    "upwards beyond the start": (flat(15 * 64 - 1, "-64"), {"w": PROVED, "S": OPEN}),
    "a stride with a fraction": (flat(0, "T.float32(64)"), {"w": PROVED, "S": PASSED}),
    "less than the buffer": (
        threads(
            DECLARED.format("S[0:16, 0:64]") + indent(store(MEMORY.format(0), "64", ""), "    "),
        ),
        {"w": PROVED, "S": PASSED},
    ),
    "by a pointer that something gives": (
        threads(block(store("T.call_extern('handle', 'g', y[n])", "64", ""))),
        {"w": PROVED, "y": PASSED},
    ),
    "three axes": (
        'D = T.alloc_buffer((2, 32, 64), "float16", scope="shared")\n'
        + threads(
            block(
                store(
                    shown="t = T.match_buffer(D[0:1, 0:16, 0:16], (T.int64(1), T.int64(16), T.int64(16)), "
                    '"float16", strides=("s2", "s1", "s0"), scope="shared", offset_factor=1)\n'
                )
            )
        ),
        {"w": PROVED, "t": PASSED},
    ),
    "elements two apart": (
        'D = T.alloc_buffer((32, 64), "float16", scope="shared", strides=[128, 2])\n'
        + threads(block(store(shown=tile("D", "0", "0", "shared")))),
        {"w": PROVED, "t": PASSED},
    ),
    "without threads": (block(store()), {"w": PROVED, "t": PASSED}),
    "31 threads": (threads(block(store()), 31), {"w": PROVED, "t": PROVED}),
    "33 threads": (threads(block(store()), 33), {"w": PROVED, "t": PASSED}),
}


@pytest.mark.parametrize("name", PARTS)
def test_elements_one_behind_the_other(name: str) -> None:
    body, expected = PARTS[name]
    assert said(threads(body)) == expected


@pytest.mark.parametrize("name", WINDOWS)
def test_elements_of_a_window(name: str) -> None:
    body, expected = WINDOWS[name]
    assert said(body)["w"] == expected


@pytest.mark.parametrize("name", TILES)
def test_a_tile_of_which_each_thread_touches_a_part(name: str) -> None:
    body, expected = TILES[name]
    assert said(body) == expected
