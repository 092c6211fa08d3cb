"""Kernels of one idea each, as in `test_kernel_facts`: what is known of halves, logarithms, conversions and integers of 64 bits.
9223372036854775808, which is 2**63, becomes less than any size where it is taken to have a sign; then the compiled kernel ends with
a segmentation fault. What is said is compared with runs of an interpreter at small sizes.
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
# between halves: x 4; y n; z m | x exact
for i in range(m - n + 1, m - n + 9):
    if 2 * i >= m and 2 * i <= n:
        x[4] = T.float32(1)
# between halves and ends: x 4; y n; z m | x exact
for i in range(m, n):
    if 2 * i >= m and 2 * i <= n:
        x[4] = T.float32(1)
# between a half and itself: x 4; y n; z m | x exact
for i in range(n):
    if 2 * i >= m and 2 * i <= m:
        if i <= 7 - n:
            x[4] = T.float32(1)
# between a third and a half: x 4; y n; z m | x exact
for i in range(n):
    if 3 * i >= m + 1 and 2 * i <= m and i >= m - n:
        x[4] = T.float32(1)
# a product of 64 bits that wraps: x n | x open
if n > 2**41:
    for i in range(T.int64(2**40)):
        x[i * T.int64(2**40) // T.int64(2**40)] = T.float32(1)
# a product of 64 bits that fits: x n | x proved
if n > 2**41:
    for i in range(T.int64(2**23)):
        x[i * T.int64(2**40) // T.int64(2**40)] = T.float32(1)
# a product of 64 bits that just wraps: x n | x open
if n > 2**41:
    for i in range(T.int64(2**23 + 1)):
        x[i * T.int64(2**40) // T.int64(2**40)] = T.float32(1)
# a product below zero that fits: x n | x proved
if n > 2**41:
    for i in range(T.int64(2**23 + 1)):
        x[T.int64(2**23) - T.floordiv(i * T.int64(-2**40), T.int64(-2**40))] = T.float32(1)
# a product below zero that wraps: x n | x open
if n > 2**41:
    for i in range(T.int64(2**23 + 2)):
        x[T.int64(2**23) + 2 + T.floordiv(i * T.int64(-2**40), T.int64(2**40))] = T.float32(1)
# a guard of 64 bits that wraps: x 4; k n | x open
if n > 2**41:
    for i in range(T.int64(2**40)):
        if i * T.int64(2**40) < T.int64(2**42):
            x[i] = T.float32(1)
# log of 2**40: x 4; y n | x proved
for i in range(n):
    if i < T.Cast("int64", T.ceil(T.log2(T.float64(1099511627776)))) - 36:
        x[i] = T.float32(1)
# log of 1: x 4; y n | x proved
for i in range(n):
    if i < T.Cast("int64", T.ceil(T.log2(T.float64(1)))) + 4:
        x[i] = T.float32(1)
# log of 2.5: x 4; y n | x open
for i in range(n):
    if i < T.Cast("int64", T.ceil(T.log2(T.float64(2.5)))) + 2:
        x[i] = T.float32(1)
# log of less than 1: x 4; y n | x open
for i in range(n):
    if i < T.Cast("int64", T.ceil(T.log2(T.float64(0.5)))) + 5:
        x[i] = T.float32(1)
# log of 0: x 4; y n | x open
for i in range(n):
    if i < T.Cast("int64", T.ceil(T.log2(T.float64(0)))):
        x[i] = T.float32(1)
# log of a size: x 4; y n | x open
for i in range(n):
    if i < T.Cast("int64", T.ceil(T.log2(T.Cast("float64", n)))):
        x[i] = T.float32(1)
# log of 9: x 4; y n | x proved
for i in range(n):
    if i < T.Cast("int64", T.ceil(T.log2(T.Cast("float64", T.int64(9))))):
        x[i] = T.float32(1)
# log of 9, one more: x 4; y n | x exact
for i in range(n):
    if i < T.Cast("int64", T.ceil(T.log2(T.Cast("float64", T.int64(9))))) + 1:
        x[i] = T.float32(1)
# equal conversions: x n; q 4 | q proved proved proved proved, x proved
if T.Cast("int64", q[0]) >= 0 and T.Cast("int64", q[1]) < n and T.Cast("int64", q[0]) < n:
    x[T.Cast("int64", q[0])] = T.float32(1)
# another conversion: x n; q 4 | q proved proved proved, x open
if T.Cast("int64", q[1]) >= 0 and T.Cast("int64", q[0]) < n:
    x[T.Cast("int64", q[0])] = T.float32(1)
# conversions of two buffers: x n; q 4; z 4 | z proved, q proved proved, x open
if T.Cast("int64", z[0]) >= 0 and T.Cast("int64", q[0]) < n:
    x[T.Cast("int64", q[0])] = T.float32(1)
# a conversion before a store: x n; q 4 | q proved proved proved proved, x open
if T.Cast("int64", q[0]) >= 0 and T.Cast("int64", q[0]) < n:
    q[1] = T.float32(5)
    x[T.Cast("int64", q[0])] = T.float32(1)
# a conversion of a sum: x n; q 4 | q proved proved proved proved proved proved, x proved
if T.Cast("int64", T.floor(q[0] + q[1])) >= 0 and T.Cast("int64", T.floor(q[0] + q[1])) < n:
    x[T.Cast("int64", T.floor(q[0] + q[1]))] = T.float32(1)
# a conversion of another sum: x n; q 4 | q proved proved proved proved proved proved, x open
if T.Cast("int64", T.floor(q[0] + q[1])) >= 0 and T.Cast("int64", T.floor(q[0] + q[2])) < n:
    x[T.Cast("int64", T.floor(q[0] + q[2]))] = T.float32(1)
# a random conversion: x n; q 4 | x open
if T.Cast("int64", T.call_extern("float32", "random")) >= 0 and T.Cast("int64", T.call_extern("float32", "random")) < n:
    x[T.Cast("int64", T.call_extern("float32", "random"))] = T.float32(1)
# the rest of wrapped numbers: x 4; p 1 as int32 | p proved proved, x open
h: T.let[T.int32] = T.Cast("int32", T.Cast("int64", p[0] * p[0]) * T.int64(3))
x[T.max(T.min(h, 3), 0)] = T.float32(1)
# the rest of numbers cut: x 4; p 1 as int32 | p proved, x proved
h: T.let[T.int32] = T.Cast("int32", T.Cast("int64", p[0]) * T.int64(3))
x[T.max(T.min(h, 3), 0)] = T.float32(1)
# uint64 cast: x n; p 1 as uint64 | p proved, x held
h: T.let[T.int64] = T.Cast("int64", p[0])
if h < n:
    x[h] = T.float32(1)
# uint64 cast of twice: x n; p 1 as uint64 | p proved, x held
h: T.let[T.int64] = T.Cast("int64", p[0]) * 2
if h < n:
    x[h] = T.float32(1)
# uint64 index: x n; p 1 as uint64 | p proved proved, x proved
if p[0] < T.Cast("uint64", n):
    x[p[0]] = T.float32(1)
# uint64 of int64: x n; p 1 as int64 | p proved, x proved
h: T.let[T.uint64] = T.Cast("uint64", p[0])
if h < T.Cast("uint64", n):
    x[h] = T.float32(1)
# uint64 difference: x n; k scalar as uint64 | x open
h: T.let[T.int64] = T.Cast("int64", k - T.uint64(3))
if h < n:
    x[h] = T.float32(1)
# uint64 sum: x n; k scalar as uint64 | x open
h: T.let[T.uint64] = k + T.uint64(9)
if h < T.Cast("uint64", n):
    x[h + T.uint64(1)] = T.float32(1)
# uint64 sum less: x n; p 1 as uint64 | p proved proved, x held
h: T.let[T.uint64] = p[0] + T.uint64(9)
if h < T.uint64(12) and n > 20:
    x[p[0]] = T.float32(1)
# uint64 of sizes: x n | x proved
h: T.let[T.uint64] = T.Cast("uint64", n) * T.uint64(4) + T.uint64(9)
if n > 9:
    x[T.Cast("int64", h) // 4 - n - 2] = T.float32(1)
# uint64 of int64 small: x n; p 1 as uint32 | p proved, x proved
h: T.let[T.int64] = T.Cast("int64", T.Cast("uint64", p[0]) * T.uint64(3))
if h < n:
    x[h] = T.float32(1)
# int64 of data: x n; p 1 as uint64 | p proved, x proved
h: T.let[T.int64] = T.Cast("int64", T.shift_right(p[0], T.uint64(1)))
if h < n:
    x[h] = T.float32(1)
"""
"""Above each body its name, its parameters, and what is said of the accesses of each buffer."""


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_each_access(row: tuple[str, str, str, str]) -> None:
    _, parameters, words, body = row
    function = written(parameters, body)
    assert said_of_accesses(read_kernel("f", function)) == words
    with suppress(Unusable):
        compare_function(function)
