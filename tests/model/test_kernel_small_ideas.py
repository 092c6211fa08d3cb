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
"""
"""Above each body its name, its parameters, and what is said of the accesses of each buffer."""


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_each_access(row: tuple[str, str, str, str]) -> None:
    _, parameters, words, body = row
    function = written(parameters, body)
    assert said_of_accesses(read_kernel("f", function)) == words
    with suppress(Unusable):
        compare_function(function)
