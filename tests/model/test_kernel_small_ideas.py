"""Kernels of one idea each, as in `test_kernel_facts`: what the form of a loop, a guard, a remainder or a product tells.
What is said is compared with runs of an interpreter at small sizes.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from relax_lint.model.prim_funcs import read_kernel
from tests.model.held import said_of_accesses
from tests.model.test_kernel_facts import read
from tests.model.test_kernel_parameters import written
from tests.oracle.tir.compare import Unusable, compare_function

KERNELS = """\
# data decides, and changes: x 4; p 4 as int64 | p proved proved, s proved proved, x open
s = T.alloc_buffer((4,), "int64")
for i in range(3):
    if p[0] > 0:
        if i == 0:
            s[0] = T.int64(2)
        for j in range(1):
            x[s[j]] = T.float32(1)
    p[0] = T.int64(1)
# sizes decide: x 4; y n | s proved proved, x proved
s = T.alloc_buffer((4,), "int64")
for i in range(3):
    if n > 3:
        if i == 0:
            s[0] = T.int64(2)
        for j in range(1):
            x[s[j]] = T.float32(1)
# a square of data: x n; p 4 as int8 | p proved proved, x proved
h: T.let[T.int64] = T.Cast("int64", p[0]) * T.Cast("int64", p[0])
if h < n:
    x[h] = T.float32(1)
# a product of a square of data: x n; p 4 as int8 | p proved proved proved, x held
h: T.let[T.int64] = T.Cast("int64", p[0]) * T.Cast("int64", p[0]) * T.Cast("int64", p[1])
if h < n:
    x[h] = T.float32(1)
# one step from a size on: x n | x exact
for i in range(n, n + 1):
    for j in range(4):
        x[i - j - 1] = T.float32(1)
# one step behind all: x n | x exact
for i in range(n, n + 1):
    for j in range(4):
        x[i + j] = T.float32(1)
# a step that is left after a store: x n; y 4 | y proved, x proved
for i in range(8):
    if i >= n:
        y[0] = T.float32(1)
        break
    x[i] = T.float32(1)
# the rest of a number: x 8; y n | x proved
j: T.let = T.int64(9)
k: T.let = T.int64(8)
for i in range(7):
    x[T.floormod(j, k) + i] = T.float32(1)
# the rest of a number below zero: x n | x proved
for i in range(n):
    x[T.floormod(-i - 1, n)] = T.float32(1)
# the quotient of a number below zero: x n | x proved
for i in range(n):
    x[T.floordiv(-i - 1, n) + 1] = T.float32(1)
# below 32 bits: x 4; k scalar as int32 | s proved proved, x open
s = T.alloc_buffer((4,), "int32")
for i in range(4):
    s[i] = k - 5
for i in range(4):
    if k < -20:
        x[T.if_then_else(s[i] < 0, 1, 7)] = T.float32(1)
# above 32 bits: x 4; k scalar as int32 | s proved proved, x open
s = T.alloc_buffer((4,), "int32")
for i in range(4):
    s[i] = k + 5
for i in range(4):
    if k > 20:
        x[T.if_then_else(s[i] > 0, 1, 7)] = T.float32(1)
# within 32 bits: x 4; k scalar as int32 | s proved proved, x proved
s = T.alloc_buffer((4,), "int32")
for i in range(4):
    s[i] = k + 5
for i in range(4):
    if k > 20 and k < 1000:
        x[T.if_then_else(s[i] > 0, 1, 7)] = T.float32(1)
# a block's own buffer in a loop of blocks: x 4 | s proved proved, x proved
for i in range(3):
    with T.sblock("b"):
        T.reads()
        T.writes()
        s = T.sblock_alloc_buffer((2,), "int64")
        for k in range(2):
            s[k] = T.int64(3)
        for j in range(2):
            x[s[j]] = T.float32(1)
# counted across the steps of a block: x 4 | s proved proved proved proved proved, x proved
with T.sblock("b"):
    T.reads()
    T.writes()
    s = T.sblock_alloc_buffer((1,), "int64")
    s[0] = T.int64(0)
    for i in range(4):
        for j in range(1):
            x[s[j]] = T.float32(1)
        if s[0] < 3:
            s[0] = s[0] + 1
# ends that cannot be compared: x k; y n; z m; k scalar | s proved proved proved, x open
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    s[i] = n
for i in range(8):
    s[i] = m
for i in range(8):
    if n < 3 and m < 3 and k > 5:
        x[s[i]] = T.float32(1)
# lows that cannot be compared: x 400; y n; z m | s proved proved proved, x open
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    s[i] = T.max(n, 100 - 4 * m)
for i in range(8):
    s[i] = T.max(m, 100 - 3 * n)
for i in range(8):
    if n < 50 and m < 50:
        x[s[i]] = T.float32(1)
# more options than are told apart: x n; k scalar | s proved proved, x open
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    s[i] = T.min(T.min(T.min(T.min(T.min(T.min(i, n - 1), n - 1), k), n - 1), n - 1), n - 1)
for i in range(8):
    if k >= 0 and n > 0:
        x[s[i]] = T.float32(1)
# copied from the second parameter: x n; q 4 as int64; p m as int64 | p exact proved, s proved proved proved, x held
s = T.alloc_buffer((1,), "int64")
s[0] = p[0]
for i in range(m):
    x[s[0]] = T.float32(1)
    s[0] = p[i]
# an unused rest: x n; p 2 as int64 | p proved proved, s proved proved proved, x open
s = T.alloc_buffer((1,), "int64")
s[0] = T.shift_right(p[0], p[1])
for i in range(4):
    x[s[0]] = T.float32(1)
    s[0] = 0
"""
"""Above each body its name, its parameters, and what is said of the accesses of each buffer."""


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_each_access(row: tuple[str, str, str, str]) -> None:
    _, parameters, words, body = row
    function = written(parameters, body)
    assert said_of_accesses(read_kernel("f", function)) == words
    with suppress(Unusable):
        compare_function(function)
