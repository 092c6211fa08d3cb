"""Packed functions that sort, as a kernel calls them: what of its parameters such a call reads, writes and fills."""

from __future__ import annotations

from textwrap import indent

import pytest
import tvm

from relax_lint.model.prim_funcs import read_kernel

HEAD = """\
@T.prim_func(private=True)
def f(x_: T.handle, y_: T.handle, z_: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(x_, ({x}), "float32")
    y = T.match_buffer(y_, ({y}), "float32")
    z = T.match_buffer(z_, ({z}), "int64")
"""
ARRAY = "T.tvm_stack_make_array({}.data, T.tvm_stack_make_shape({}), 0, 2, T.float32(0), T.int64(0))"


def sort(to: str = "y", made: str = "n, m", given: str = "n, m", axis: int = 1, source: str = "x") -> str:
    """All elements of a tensor in order, or (to `z`) their positions."""
    name = "argsort" if to == "z" else "sort"
    arrays = f"{ARRAY.format(source, given)}, {ARRAY.format(to, made)}"
    return f'T.evaluate(T.call_packed("tvm.contrib.sort.{name}", {arrays}, {axis}, T.bool(True)))\n'


def top(
    kind: str = "both",
    values: str = "n, 3",
    places: str = "n, 3",
    k: int = 3,
    axis: int = 1,
    given: str = "n, m",
) -> str:
    """The first elements of each row, their positions, or both."""
    results = {"both": ("y", values), "values": ("y", values), "indices": ("z", places)}
    arrays = [ARRAY.format("x", given), ARRAY.format(*results[kind])]
    if kind == "both":
        arrays.append(ARRAY.format("z", places))
    call = (
        f'T.call_packed("tvm.contrib.sort.topk", {", ".join(arrays)}, {k}, {axis}, "{kind}", T.bool(False))'
    )
    return f"T.evaluate({call})\n"


UNKNOWN = ({0, 1}, {0: "False", 1: "False"})
CASES = {
    "all elements": (sort(), {}, {0}, {1: "True"}),
    "all positions": (sort("z"), {}, {0}, {2: "True"}),
    "along the first axis": (sort(axis=0), {}, {0}, {1: "True"}),
    "along the last axis": (sort(axis=-1), {}, {0}, {1: "True"}),
    "along no axis": (sort(axis=2), {}, *UNKNOWN),
    "elements and positions": (sort() + sort("z"), {}, {0}, {1: "True", 2: "True"}),
    # Not all of a parameter, or not what it is.
    "a part of the source": (sort(given="n, m - 1"), {}, *UNKNOWN),
    "a part of the result": (sort(made="n, m - 1"), {}, *UNKNOWN),
    "an extent that data tells": (sort(made='n, T.Cast("int64", x[0, 0])'), {}, *UNKNOWN),
    "a longer result": (sort(made="n, m + 1"), {"y": "n, m + 1"}, {0}, {1: "False"}),
    "a result of more rows": (sort(made="n + 1, m"), {"y": "n + 1, m"}, {0}, {1: "False"}),
    # Not surely, or more than once.
    "under a condition": (f"if n > 2:\n    {sort()}", {}, *UNKNOWN),
    "in a loop": (f"for i in range(3):\n    {sort()}", {}, *UNKNOWN),
    "in place": (sort("x"), {}, {0}, {0: "False"}),
    "to memory of its own": (f'w = T.alloc_buffer((n, m), "float32")\n{sort("w")}', {}, {0}, {0: "False"}),
    # So many of each row, if it has as many.
    "the first three": (top(), {"y": "n, 3", "z": "n, 3"}, {0}, {1: "m >= 3", 2: "m >= 3"}),
    "the first three values": (top("values"), {"y": "n, 3"}, {0}, {1: "m >= 3"}),
    "the first three positions": (top("indices"), {"z": "n, 3"}, {0}, {2: "m >= 3"}),
    "the first three of columns": (
        top(values="3, m", places="3, m", axis=0),
        {"y": "3, m", "z": "3, m"},
        {0},
        {1: "n >= 3", 2: "n >= 3"},
    ),
    "the first three of columns to rows": (
        top(axis=0),
        {"y": "n, 3", "z": "n, 3"},
        {0},
        {1: "False", 2: "False"},
    ),
    "the first four to three": (top(k=4), {"y": "n, 3", "z": "n, 3"}, {0}, {1: "False", 2: "False"}),
    "none is all": (top(values="n, m", places="n, m", k=0), {}, {0}, {1: "True", 2: "True"}),
    "fewer than none is all": (top(values="n, m", places="n, m", k=-1), {}, {0}, {1: "True", 2: "True"}),
    "more room for positions": (top(places="n, m"), {"y": "n, 3"}, {0}, {1: "m >= 3", 2: "False"}),
    "three of four": (
        top(given="n, 4"),
        {"x": "n, 4", "y": "n, 3", "z": "n, 3"},
        {0},
        {1: "True", 2: "True"},
    ),
    # Never: that is known.
    "three of two": (
        top(given="n, 2"),
        {"x": "n, 2", "y": "n, 3", "z": "n, 3"},
        {0},
        {1: "2 >= 3", 2: "2 >= 3"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_read_and_filled(name: str) -> None:
    body, shapes, reads, filled = CASES[name]
    head = HEAD.format(**({"x": "n, m", "y": "n, m", "z": "n, m"} | shapes))
    function = tvm.script.from_source(head + indent(body, "    "), check_well_formed=False)
    kernel = read_kernel("f", function)
    assert set(kernel.reads) == reads
    assert set(kernel.writes) == set(filled)
    assert {position: str(condition) for position, condition in kernel.whole_writes.items()} == filled
