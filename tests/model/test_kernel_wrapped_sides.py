"""Numbers of 32 bits that may have wrapped around, as a side of a choice and in operations on bits: what follows of them.

46341 is the smallest number whose square 32 bits do not hold: it becomes -2147479015, which is below any size. LLVM compares
that number with the size, and the compiled kernel ends with a segmentation fault.
"""

from __future__ import annotations

import pytest

from relax_lint.model.prim_funcs import read_kernel
from tests.model.test_kernel_access_forms import said_of
from tests.model.test_kernel_facts import read
from tests.model.test_kernel_parameters import written

KERNELS = """\
# a square: x n; p 1 as int32 | p proved proved, x open
h: T.let[T.int32] = p[0] * p[0]
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# a square with a bit: x n; p 1 as int32 | p proved proved, x open
h: T.let[T.int32] = (p[0] * p[0]) | 1
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# a bit with a square: x n; p 1 as int32 | p proved proved, x open
h: T.let[T.int32] = T.int32(1) | (p[0] * p[0])
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# a small number with a bit: x n; p 1 as int8 | p proved proved, x proved
h: T.let[T.int32] = (T.Cast("int32", p[0]) * T.Cast("int32", p[0])) | 1
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# a square of 64 bits with a bit: x n; p 1 as int32 | p proved proved, x proved
h: T.let[T.int64] = (T.Cast("int64", p[0]) * T.Cast("int64", p[0])) | T.int64(1)
if h < n:
    x[h] = T.float32(1)
# a square and another bit: x n; p 1 as int32 | p proved proved, x open
h: T.let[T.int32] = (p[0] * p[0]) ^ 1
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# the bits of two squares: x n; p 1 as int32; q 1 as int32 | p proved proved, q proved proved, x open
h: T.let[T.int32] = (p[0] * p[0]) & (q[0] * q[0])
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# the last bits of a square: x 8; p 1 as int32 | p proved proved, x proved
x[(p[0] * p[0]) & 7] = T.float32(1)
# one of two: x n; p 1 as int32 | p proved proved, x open
h: T.let[T.int32] = T.if_then_else(n > 3, p[0] * p[0], 1)
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# the other one of two: x n; p 1 as int32 | p proved proved, x open
h: T.let[T.int32] = T.if_then_else(n <= 3, 1, p[0] * p[0])
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# selected: x n; p 1 as int32 | p proved proved, x open
h: T.let[T.int32] = T.Select(n > 3, p[0] * p[0], 1)
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# selected by a parameter: x n; k scalar as int32 | x open
h: T.let[T.int32] = T.Select(k > 3, k * k, 1)
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# the least of a choice: x 8; p 1 as int32 | p proved proved proved, x open
x[T.min(T.if_then_else(p[0] > 3, p[0] * p[0], 1), 7)] = T.float32(1)
# the rest of a choice: x 8; p 1 as int32 | p proved proved proved, x proved
h: T.let[T.int32] = T.floormod(T.if_then_else(p[0] > 3, p[0] * p[0], 1), 8)
x[h] = T.float32(1)
# in lanes: x n; p 4 as int32 | p proved proved, x open
for i in T.vectorized(4):
    h: T.let[T.int32] = T.Select(n > i, p[i] * p[i], 1)
    if n < 100000 and h < T.Cast("int32", n):
        x[h] = T.float32(1)
# an index of its own: x n; p 1 as int32 | p proved proved proved proved, x open
if n > 0:
    x[T.if_then_else(p[0] * p[0] < 1, p[0] * p[0], 0)] = T.float32(1)
# one of two where it fits: x n; k scalar as int32 | x proved
h: T.let[T.int32] = T.if_then_else(k >= 0 and k < 40000, k * 50000, 1)
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# one of two where it nearly fits: x n; k scalar as int32 | x open
h: T.let[T.int32] = T.if_then_else(k >= 0 and k < 50000, k * 50000, 1)
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# the other one of two where it fits: x n; k scalar as int32 | x proved
h: T.let[T.int32] = T.if_then_else(k < 0 or k >= 40000, 1, k * 50000)
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# selected where it fits: x n; k scalar as int32 | x proved
h: T.let[T.int32] = T.Select(k >= 0 and k < 40000, k * 50000, 1)
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
# in lanes of small numbers: x n; p 4 as int8 | p proved, x proved
for i in T.vectorized(4):
    h: T.let[T.int32] = T.Select(n > i, T.Cast("int32", p[i]) * 2000 + 300000, 1)
    if n > 600000:
        x[h] = T.float32(1)
"""
"""Above each body its name, its parameters, and what is said of the accesses of each buffer."""


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_where_a_number_may_have_wrapped(row: tuple[str, str, str, str]) -> None:
    _, parameters, words, body = row
    assert said_of(read_kernel("f", written(parameters, body))) == words
