"""Calls on matrices of tensor cores written in many ways: only what is written as TVM's schedules write it is proved, and
of anything else nothing is known.
"""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
import tvm

from relax_lint.model.prim_funcs import read_kernel
from tests.model.test_kernel_matrices import HEAD, NUMBER, POINTER, load, window, within

PROVED, OPEN, PASSED = "proved", "open", "passed"


def said(body: str, head: str = HEAD) -> dict[str, str]:
    """By buffer what is said of its accesses, the worst of each."""
    function = tvm.script.from_source(head + indent(dedent(body), "    "), check_well_formed=False)
    found: dict[str, str] = {}
    for access in read_kernel("f", function).accesses.accesses:
        word = PASSED if "is passed to" in access.unread else PROVED if access.proved else OPEN
        found[access.buffer.name] = min(word, found.get(access.buffer.name, word))
    return found


CALL = 'T.tvm_load_matrix_sync({array}, 16, 16, 16, {number}, {pointer}, {stride}, "row_major")\n'
AT = 'T.tvm_access_ptr(T.type_annotation("float16"), {buffer}.data, 0, 512, 1)'


def flat(
    pointer: str = "", array: str = "A.data", number: str = "0", stride: str = "32", buffer: str = "x"
) -> str:
    """A matrix by its number, its rows by a pointer and a stride."""
    pointer = pointer or AT.format(buffer=buffer)
    return "if n >= 2:\n    " + CALL.format(array=array, number=number, pointer=pointer, stride=stride)


def array(more: str = "", name: str = "D") -> str:
    return f'{name} = T.alloc_buffer((32, 32), "float16", scope="wmma.matrix_a"{more})\n'


def narrow(dtype: str) -> str:
    """The same with elements of fewer bits."""
    text = f'z = T.match_buffer(y_, (16, 32), "{dtype}")\nZ = T.alloc_buffer((16, 16), "{dtype}", '
    return text + 'scope="wmma.matrix_a")\n' + flat(buffer="z", array="Z.data").replace("float16", dtype)


OF_THE_CALLER = "D = T.match_buffer(y_, (64, 32), 'float16'{})\n"
A_VIEW = 'D = T.decl_buffer((64, 32), "float16", data=x.data)\n'

FLAT = {
    "as it is written": (flat(), {"A": PROVED, "x": PROVED}),
    # The elements that the arguments load are accesses too.
    "an array by an address": (
        flat(array="T.address_of(A[0, 0])", number='T.Cast("int32", y[n])'),
        {"A": PASSED, "y": OPEN, "x": PASSED},
    ),
    "a number with a fraction": (flat(number="T.float32(0)"), {"A": PASSED, "x": PROVED}),
    "an array of any size": (
        'D = T.alloc_buffer((n * 16, 16), "float16", scope="wmma.matrix_a")\n' + flat(array="D.data"),
        {"D": PASSED, "x": PROVED},
    ),
    "a stride with a fraction": (flat(stride="T.float32(32)"), {"A": PROVED, "x": PASSED}),
    "an array that shows another one": (
        'D = T.decl_buffer((32, 32), "float16", data=A.data, scope="wmma.matrix_a")\n' + flat(array="D.data"),
        {"D": PASSED, "x": PROVED},
    ),
    "rows of a view": (A_VIEW + flat(buffer="D"), {"A": PROVED, "D": PASSED}),
    "rows of a tensor of the caller": (
        OF_THE_CALLER.format("") + flat(buffer="D"),
        {"A": PROVED, "D": PROVED},
    ),
    "rows of a tensor at an offset": (
        OF_THE_CALLER.format(", elem_offset=n") + flat(buffer="D"),
        {"A": PROVED, "D": PASSED},
    ),
    "rows of a tensor at an offset that is a number": (
        OF_THE_CALLER.format(", elem_offset=8") + flat(buffer="D"),
        {"A": PROVED, "D": PASSED},
    ),
    "bytes": (narrow("int8"), {"Z": PROVED, "z": PROVED}),
    "half bytes": (narrow("int4"), {"Z": PROVED, "z": PASSED}),
    # Sixteen rows of 32 elements, from row 0 or from its second half on.
    "an address": (flat("T.address_of(x[0, 16])"), {"A": PROVED, "x": PROVED}),
    "an address a column too far": (flat("T.address_of(x[0, 17])"), {"A": PROVED, "x": OPEN}),
    "an address a row too far": (flat("T.address_of(x[1, 0])"), {"A": PROVED, "x": OPEN}),
    "an address before the start": (flat("T.address_of(x[0, -1])"), {"A": PROVED, "x": OPEN}),
    "an address of an element that data tells": (
        flat('T.address_of(x[T.Cast("int32", y[n]), 0])'),
        {"A": PROVED, "y": OPEN, "x": OPEN},
    ),
    "an address of a view": (A_VIEW + flat("T.address_of(D[0, 0])"), {"A": PROVED, "D": PASSED}),
    "an address of a tensor at an offset": (
        OF_THE_CALLER.format(", elem_offset=n") + flat("T.address_of(D[0, 0])"),
        {"A": PROVED, "D": PASSED},
    ),
    "a number for a pointer": (
        flat("T.reinterpret('handle', T.Cast('int64', y[n]))"),
        {"A": PROVED, "y": OPEN},
    ),
    "a pointer that something gives": (
        flat("T.call_extern('handle', 'g', x.data)"),
        {"A": PROVED, "x": PASSED},
    ),
    "what matrices are filled with": (
        "T.tvm_fill_fragment(C.data, 16, 16, 16, 0, y[n])\n",
        {"C": PROVED, "y": OPEN},
    ),
}

OFFSET, STRIDE = "F.elem_offset", "F.strides[0]"


def tiled(number: str = "", place: str = POINTER, tile: str = "", at: str = "") -> str:
    """A tile of shared memory, as a window, is loaded into a tile of an array."""
    return f"""\
with T.sblock("load"):
    T.reads()
    T.writes()
    {at or window("W", "S", "0;0")}
    {tile or window("F", "A", "0;0")}
    {CALL.format(array="F.data", number=number or NUMBER.format(m=16, n=16), pointer=place, stride="W.strides[0]")}"""


def number(
    row: str = f"{OFFSET} // {STRIDE} // T.int64(16)",
    tiles: str = f"{STRIDE} // T.int64(16)",
    column: str = f"{OFFSET} % {STRIDE} // T.int64(16)",
) -> str:
    """The number of the matrix at the start of a window: the row of tiles, how many it has, and the column."""
    return f"{row} * ({tiles}) + {column}"


def gaps(name: str, axis: int) -> str:
    return f"""\
for i, j in T.grid(32, 32):
    with T.sblock("store"):
        T.reads()
        T.writes({name}[i, j])
        T.sblock_attr({{"buffer_dim_align": [[0, {axis}, 16, 8]]}})
        {name}[i, j] = T.float16(0)
"""


NUMBERS = {
    "as it is written": (number(), PROVED),
    "no product": (f"{OFFSET} // {STRIDE} // T.int64(16) + {OFFSET} % {STRIDE} // T.int64(16)", PASSED),
    "a row that is not of tiles": (number(row=f"{OFFSET} // {STRIDE}"), PASSED),
    "rows of tiles of -16": (number(row=f"{OFFSET} // {STRIDE} // T.int64(-16)"), PASSED),
    "rows of tiles of 32": (number(row=f"{OFFSET} // {STRIDE} // T.int64(32)"), OPEN),
    "rows of tiles of any size": (number(row=f"{OFFSET} // {STRIDE} // n"), PASSED),
    "no row": (number(row=f"({OFFSET} + {STRIDE}) // T.int64(16)"), PASSED),
    "the row of something else": (number(row=f"{STRIDE} // {STRIDE} // T.int64(16)"), PASSED),
    "the row by something else": (number(row=f"{OFFSET} // {OFFSET} // T.int64(16)"), PASSED),
    "another stride": (number(tiles="T.int64(32) // T.int64(16)"), PASSED),
    "the offset for the stride": (number(tiles=f"{OFFSET} // T.int64(16)"), PASSED),
    "a stride that is not of tiles": (number(tiles=STRIDE), PASSED),
    "a column of other tiles": (number(column=f"{OFFSET} % {STRIDE} // T.int64(8)"), PASSED),
    "no column": (number(column=f"{OFFSET} // {STRIDE} // T.int64(16)"), PASSED),
    "a column that is not of tiles": (number(column=f"{OFFSET} % {STRIDE}"), PASSED),
    "the column of something else": (number(column=f"{STRIDE} % {STRIDE} // T.int64(16)"), PASSED),
    "the column by something else": (number(column=f"{OFFSET} % {OFFSET} // T.int64(16)"), PASSED),
    "columns of 8": (
        number(tiles=f"{STRIDE} // T.int64(8)", column=f"{OFFSET} % {STRIDE} // T.int64(8)"),
        PASSED,
    ),
}

SHARED = 'D = T.alloc_buffer((64, 32), "float16", scope="shared"{})\n'
PLAIN = (
    'F = T.match_buffer(A[0:16, 0:16], (T.int64(16), T.int64(16)), "float16", '
    'scope="wmma.matrix_a", offset_factor=1)'
)
OF_THREE = (
    'W = T.match_buffer(D[0:1, 0:16, 0:16], (T.int64(1), T.int64(16), T.int64(16)), "float16", '
    'strides=("s2", "s1", "s0"), scope="shared", offset_factor=1)'
)

TILES = {
    "an element of a window": (tiled(place="T.address_of(W[0, 0])"), PROVED, PROVED),
    "its second row": (tiled(place="T.address_of(W[1, 0])"), PROVED, OPEN),
    "its second column": (tiled(place="T.address_of(W[0, 1])"), PROVED, OPEN),
    "a window that begins at 0": (
        tiled(place=POINTER.replace("W.elem_offset", "T.int64(0)")),
        PROVED,
        PASSED,
    ),
    "another type": (tiled(place=POINTER.replace("float16", "float32")), PROVED, PASSED),
    "a tile without strides": (tiled(tile=PLAIN, number="0"), PASSED, PROVED),
    "an array with strides": (array(", strides=[32, 1]") + tiled().replace("A[", "D["), PASSED, PROVED),
    "an array at an offset": (array(", elem_offset=64") + tiled().replace("A[", "D["), PASSED, PROVED),
    "an array that shows another one": (
        'D = T.decl_buffer((32, 32), "float16", data=A.data, scope="wmma.matrix_a")\n'
        + tiled().replace("A[", "D["),
        PASSED,
        PROVED,
    ),
    "rows one behind the other": (
        SHARED.format(", strides=[32, 1]") + tiled().replace("S[", "D["),
        PROVED,
        PROVED,
    ),
    "elements two apart": (
        SHARED.format(", strides=[64, 2]") + tiled().replace("S[", "D["),
        PROVED,
        PASSED,
    ),
    "a tensor of the caller": (
        OF_THE_CALLER.format("") + tiled(at=window("W", "D", "0;0")),
        PROVED,
        PROVED,
    ),
    "a tensor of the caller with gaps": (
        OF_THE_CALLER.format(", strides=[40, 1]") + tiled(at=window("W", "D", "0;0")),
        PROVED,
        PASSED,
    ),
    "a view": (
        'D = T.decl_buffer((64, 32), "float16", data=S.data, scope="shared")\n' + tiled().replace("S[", "D["),
        PROVED,
        PASSED,
    ),
    "three axes": (
        'D = T.alloc_buffer((2, 32, 32), "float16", scope="shared")\n' + tiled(at=OF_THREE),
        PROVED,
        PASSED,
    ),
    "gaps in the array": (gaps("A", 0) + tiled(), PASSED, PROVED),
    "gaps in another array": (gaps("B", 1) + tiled(), PROVED, PROVED),
    "gaps between rows": (gaps("S", 0) + tiled(), PROVED, PROVED),
    "gaps in rows": (gaps("S", 1) + tiled(), PROVED, PASSED),
}

BLOCK = 'with T.sblock("b{}"):\n    T.reads({})\n    T.writes({})\n'
THIRD = CALL.format(array="A.data", number="3", pointer=AT.format(buffer="S"), stride="32")

REGIONS = {
    "all": ("A[0:32, 0:32]", PROVED),
    "one of two is all": ("A[0:32, 0:32], A[0:16, 0:16]", PROVED),
    "not its first column": ("A[0:32, 1:32]", PASSED),
    "not its last column": ("A[0:32, 0:31]", PASSED),
    "not its last row": ("A[0:31, 0:32]", PASSED),
    "none": ("", PROVED),
}


@pytest.mark.parametrize("name", FLAT)
def test_a_matrix_by_its_number(name: str) -> None:
    body, expected = FLAT[name]
    assert said(body) == expected


@pytest.mark.parametrize("name", NUMBERS)
def test_the_number_of_a_tile(name: str) -> None:
    written, expected = NUMBERS[name]
    assert said(tiled(written)) == {"F": expected, "W": PROVED}


@pytest.mark.parametrize("name", TILES)
def test_a_tile(name: str) -> None:
    body, of_array, of_memory = TILES[name]
    found = said(body)
    assert (found["F"], found["W"]) == (of_array, of_memory)


@pytest.mark.parametrize("name", REGIONS)
@pytest.mark.parametrize("inner", [False, True])
def test_what_a_block_declares_is_what_is_allocated(name: str, inner: bool) -> None:
    region, expected = REGIONS[name]
    body = BLOCK.format(0, "S[0:64, 0:32]", region)
    if inner:
        body += indent(BLOCK.format(1, "", "") + indent(THIRD, "    "), "    ")
    else:
        body += indent(THIRD, "    ")
    assert said(body) == {"A": expected, "S": PROVED}


def test_a_window_of_a_window() -> None:
    at = window("W", "S", "0;0") + "\n    " + window("V", "W", "0;0").replace('"global"', '"shared"')
    body = tiled(at=at, place=POINTER.replace("W.", "V.")).replace('W.strides[0], "row', 'V.strides[0], "row')
    assert said(body) == {"F": PROVED, "V": PROVED}


@pytest.mark.parametrize(
    ("rows", "tiles", "index", "words"),
    [
        ("n * 8", "n // 2", "int64", PROVED),
        ("n * 8", "n // 2", "int32", OPEN),
        ("4096", "256", "int32", PROVED),
        # Tile i begins i * 512 elements behind the first one: 4194304 * 512 is 2**31.
        ("134217728", "4194304", "int32", PROVED),
        ("134217728", "4194305", "int32", OPEN),
    ],
)
def test_where_a_tile_of_a_parameter_begins_is_counted_in_the_type_of_its_indices(
    rows: str, tiles: str, index: str, words: str
) -> None:
    body = within(f"i in range({tiles})", load("x", "i * 16;0", "0;0"))
    head, body = (text.replace("int64", index) for text in (HEAD.replace("n * 8", rows), body))
    assert said(body, head) == {"F": PROVED, "W": words}
