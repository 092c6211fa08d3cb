"""Every operation that an index may be made of: between which numbers it is known to lie, against every step.

An index that is moved by its least value is inside of a buffer that ends at its greatest one. With a buffer of
one element less, or moved by one more, it is outside in some step, and must not be proved.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest
import tvm

from relax_lint.model.kernel_access.accesses import KernelAccess
from relax_lint.model.prim_funcs import read_kernel

I_STEPS, J_STEPS = 17, 6
HEAD = """\
@T.prim_func(private=True)
def f(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (1,), "float32")
    y = T.match_buffer(b, ({extent},), "float32")
    for i, j in T.grid({steps}):
        y[{index}] = x[0]
"""


class Python:
    """What `T` means in an index, as plain Python computes it."""

    min, max, abs = min, max, abs
    floordiv, floormod = (lambda a, b: a // b), (lambda a, b: a % b)
    truncdiv, truncmod = (lambda a, b: int(a / b)), (lambda a, b: int(math.fmod(a, b)))
    bitwise_and, bitwise_or = (lambda a, b: a & b), (lambda a, b: a | b)
    bitwise_xor, bitwise_not = (lambda a, b: a ^ b), (lambda a: ~a)
    shift_left, shift_right = (lambda a, b: a << b), (lambda a, b: a >> b)
    And, Or, Not = (lambda a, b: a and b), (lambda a, b: a or b), (lambda a: not a)
    Select = if_then_else = lambda condition, a, b: a if condition else b
    Cast = lambda dtype, a: a if dtype != "bool" else a != 0  # noqa: E731
    int32 = int64 = int


EXACT = [
    "i",
    "i - 8",
    "3 * i - 2 * j",
    "i * i - 4",
    "i // 5",
    "(i - 8) // 5",
    "(i - 8) % 5 + j",
    "i % 8 * 6 + j",
    "(i + 16) // 17",
    "(i * 6 + j) // 6",
    "(i * 6 + j) % 6",
    "(i * 6 + j) // 12",
    "(i * 6 + j) // 3 % 4",
    "(i // 2 + 3) // 4",
    "(i // 3 - 2) // 3",
    "i // (j + 1)",
    "i % (j + 1)",
    "(i - 8) // (j + 1)",
    "(i - 20) // (j + 2)",
    "T.truncdiv(i, 3)",
    "T.truncdiv(i - 8, 3)",
    "T.truncdiv(i - 20, 3)",
    "T.truncmod(i - 8, 3)",
    "T.truncmod(i, 3)",
    "T.truncmod(i - 20, 5)",
    "T.truncdiv(i - 8, j + 1)",
    "i // -5",
    "(i - 8) // -3",
    "i % -5",
    "(i - 8) % -3 + j",
    "T.truncdiv(i, -3)",
    "T.truncdiv(i - 8, -3)",
    "T.truncmod(i, -3)",
    "T.truncmod(i - 8, -5)",
    "T.min(i, j)",
    "T.max(i, j)",
    "T.min(i - 8, 3)",
    "T.max(i - 8, -3)",
    "T.min(i, 20)",
    "T.max(i, 0)",
    "T.max(T.min(i - 8, 4), -2)",
    "T.max(i - 3, j - 5) + T.min(i, 2)",
    "T.Select(i < 8, i, 16 - i)",
    "T.Select(i >= 8, 16 - i, i)",
    "T.if_then_else(i == 8, 0, j)",
    "T.if_then_else(i != 8, j, 0)",
    "T.Select(T.And(i > 2, j < 3), i, 3)",
    "T.Select(T.Or(i > 12, i < 2), 3, i)",
    "T.Select(T.Not(i > 12), i, 5)",
    "T.Select(i <= j, i, j)",
    'T.Cast("int32", i < 3)',
    'T.Cast("int32", i < 3) + T.Cast("int32", j > 2)',
    'T.Select(T.Cast("bool", i), 1, 4)',
    "T.Select((i < 3) == (j < 3), 0, 2)",
    "T.Select((i < 3) != (j < 3), 0, 2)",
    'T.Cast("int32", T.Cast("int64", i) * T.int64(3)) - j',
    "T.shift_left(i, 3)",
    "T.shift_right(i, 2)",
    "T.shift_right(i - 8, 1)",
    "T.shift_left(1, j)",
    "T.bitwise_and(i, 7)",
    "T.bitwise_and(3, i)",
    "T.bitwise_and(i - 8, 3)",
    "T.bitwise_not(i)",
    "T.abs(i - 8)",
]
"""Indices of which both ends are known exactly."""

WIDER = {
    "T.bitwise_or(i, 15)": (0, 31),
    "T.bitwise_or(i, j)": (0, 31),
    "T.bitwise_xor(i, j)": (0, 31),
    "T.bitwise_and(i, j)": (0, 5),
    "T.bitwise_and(i, 6)": (0, 6),
    "T.bitwise_xor(i % 4, 3)": (0, 3),
}
"""Indices of which a wider range is known."""


SIZED = {
    "i": "n",
    "n - 1 - i": "n",
    "i + j": "n + m - 1",
    "i + m": "n + m",
    "i * 2 + 1": "2 * n",
    "i * m + j": "n * m",
    "j * n + i": "n * m",
    "(i * m + j) // m": "n",
    "(i * m + j) % m": "m",
    "(i * m + j) // 2": "(n * m + 1) // 2",
    "i // 4": "(n + 3) // 4",
    "i // 4 * 4 + i % 4": "n",
    "i // 4 * 4 + j % 4": "(n + 3) // 4 * 4",
    "i % 8 + j * 8": "8 * m",
    "(n - i - 1) // 2": "(n + 1) // 2",
    "(i + 1) // 2": "n // 2 + 1",
    "i * 2 // 3": "(2 * n + 2) // 3",
    "T.truncdiv(i, 2)": "(n + 1) // 2",
    "T.truncmod(i, m + 1)": "m + 1",
    "T.shift_right(i, 1)": "(n + 1) // 2",
    "T.shift_left(i, 1)": "2 * n - 1",
    "T.max(i, j)": "T.max(n, m)",
    "T.min(i, j)": "n",
    "T.min(i, m)": "n",
    "T.max(i - 2, 0)": "T.max(n - 2, 1)",
    "T.max(n - i - 3, 0)": "T.max(n - 2, 1)",
    "T.Select(i < j, i, j)": "n",
    "T.Select(i < j, j, i)": "T.max(n, m)",
    "T.Select(i < m, i, T.int64(0))": "m + 1",
    "T.if_then_else(i >= m, i - m, i)": "n + m",
}
"""Indices over `i` of `n` and `j` of `m` steps, and an extent for which each is inside at all sizes. Most reach
the first and the last element in some call.
"""
SIZED_HEAD = """\
@T.prim_func(private=True)
def f(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    z = T.match_buffer(c, (m,), "float32")
    y = T.match_buffer(b, ({extent},), "float32")
    for i, j in T.grid(n, m):
        y[{index}] = x[0]
"""


def stored(index: str, extent: int | str, head: str = HEAD) -> KernelAccess:
    """The access that stores."""
    text = head.format(extent=extent, steps=f"{I_STEPS}, {J_STEPS}", index=index)
    found = read_kernel("f", tvm.script.from_source(text)).accesses
    (store,) = (access for access in found.accesses if access.writes)
    return store


def ends(index: str) -> tuple[int, int]:
    """The least and the greatest value in all steps."""
    names: dict[str, Any] = {"T": Python}
    code = compile(index, "index", "eval")
    values = [int(eval(code, names, {"i": i, "j": j})) for i, j in product(range(I_STEPS), range(J_STEPS))]
    return min(values), max(values)


@pytest.mark.parametrize("index", EXACT)
def test_both_ends_are_known(index: str) -> None:
    low, high = ends(index)
    assert stored(f"{index} - ({low})", high - low + 1).proved
    assert not stored(f"{index} - ({low})", high - low).proved
    assert not stored(f"{index} - ({low + 1})", high - low + 1).proved


def _left(index: str, extent: str) -> tuple[int, int]:
    """How many elements there are at least in front of and behind the one that is stored to, in all calls of
    small sizes.
    """
    names: dict[str, Any] = {"T": Python}
    step, size = compile(index, "index", "eval"), compile(extent, "extent", "eval")
    found = []
    for n, m in product(range(1, 12), repeat=2):
        length = eval(size, names, {"n": n, "m": m})
        for i, j in product(range(n), range(m)):
            place = int(eval(step, names, {"n": n, "m": m, "i": i, "j": j}))
            found.append((place, length - 1 - place))
    return min(before for before, _ in found), min(after for _, after in found)


@pytest.mark.parametrize("index", SIZED)
def test_an_extent_that_is_enough_at_all_sizes(index: str) -> None:
    extent = SIZED[index]
    before, after = _left(index, extent)
    assert before >= 0 <= after
    assert stored(index, extent, SIZED_HEAD).proved
    assert not stored(index, f"{extent} - {after + 1}", SIZED_HEAD).proved
    assert not stored(f"{index} - {before + 1}", extent, SIZED_HEAD).proved


@pytest.mark.parametrize("index", WIDER)
def test_what_bits_are_left(index: str) -> None:
    low, high = WIDER[index]
    least, most = ends(index)
    assert low <= least <= most <= high
    assert stored(f"{index} - ({low})", high - low + 1).proved
    assert not stored(f"{index} - ({low})", high - low).proved
    assert not stored(f"{index} - ({low + 1})", high - low + 1).proved
