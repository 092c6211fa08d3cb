"""Numbers that fewer than 32 bits may not hold, and what is made of them: TVM takes each for the number that it would be."""

from __future__ import annotations

import pytest

from relax_lint.model.prim_funcs import read_kernel
from tests.model.test_kernel_access_forms import said_of
from tests.model.test_kernel_facts import read
from tests.model.test_kernel_parameters import written

KERNELS = """\
# a cast of what is loaded: x 100; p 1 as int32 | p proved, x proved
x[T.floormod(T.Cast("int32", T.Cast("int8", p[0])), 100)] = T.float32(1)
# what is loaded by its type: x 256; p 1 as uint8 | p proved, x proved
x[T.Cast("int32", p[0])] = T.float32(1)
# a cast of a step: x 256 | x proved
for i in range(500):
    x[T.Cast("int32", T.Cast("uint8", i))] = T.float32(1)
# the remainder of a cast of a step: x 100 | x open
for i in range(500):
    x[T.floormod(T.Cast("int32", T.Cast("int8", i)), 100)] = T.float32(1)
# a cast of that: x 100 | x open
for i in range(500):
    x[T.floormod(T.Cast("int32", T.Cast("int8", T.Cast("int16", T.Cast("int8", i)) + T.int16(3))), 100)] = T.float32(1)
# towards zero: x 199 | x open
for i in range(500):
    x[T.truncmod(T.Cast("int32", T.Cast("int8", i)), 100) + 99] = T.float32(1)
# the greater one of that: x 100 | x open
for i in range(500):
    x[T.floormod(T.max(T.Cast("int32", T.Cast("int8", i)), 0), 100)] = T.float32(1)
# a choice of that: x 100; k scalar as int32 | x open
for i in range(500):
    x[T.floormod(T.if_then_else(k > i, T.Cast("int32", T.Cast("int8", i)), 0), 100)] = T.float32(1)
# a choice of what fits: x 100; k scalar as int32 | x proved
for i in range(128):
    x[T.floormod(T.if_then_else(k > i, T.Cast("int32", T.Cast("int8", i)), 0), 100)] = T.float32(1)
# the last bits of that: x 8 | x proved
for i in range(500):
    x[T.Cast("int32", T.Cast("int8", i)) & 7] = T.float32(1)
# the remainder of the last bits: x 5 | x open
for i in range(500):
    x[T.floormod(T.Cast("int32", T.Cast("int8", i)) & 7, 5)] = T.float32(1)
# the remainder of other bits: x 5 | x proved
for i in range(500):
    x[T.floormod(i & 7, 5)] = T.float32(1)
# a condition on that: x 8 | x open
for i in range(500):
    h: T.let[T.int32] = T.Cast("int32", T.Cast("int8", i))
    if h >= 0 and h < 8:
        x[h] = T.float32(1)
# a condition on what fits: x 8 | x proved
for i in range(128):
    h: T.let[T.int32] = T.Cast("int32", T.Cast("int8", i))
    if h >= 0 and h < 8:
        x[h] = T.float32(1)
# a condition on what memory held: x 8 | s proved proved proved proved, x proved
s = T.alloc_buffer((1,), "int8")
for i in range(500):
    s[0] = T.Cast("int8", i)
    if s[0] >= T.int8(0) and s[0] < T.int8(8):
        x[T.Cast("int32", s[0])] = T.float32(1)
# the greater one of what memory held: x 100 | s proved proved, x proved
s = T.alloc_buffer((1,), "int8")
for i in range(500):
    s[0] = T.Cast("int8", i)
    x[T.min(T.max(T.Cast("int32", s[0]), 0), 99)] = T.float32(1)
# the greater one of what memory of 32 bits held: x 100 | s proved proved, x open
s = T.alloc_buffer((1,), "int32")
for i in range(500):
    s[0] = T.Cast("int32", T.Cast("int8", i))
    x[T.min(T.max(s[0], 0), 99)] = T.float32(1)
# a sum up to the greatest number of its type: x 128 | x proved
for i in range(127):
    x[T.Cast("int32", T.Cast("int8", i) + T.int8(1))] = T.float32(1)
# a sum that is one more than that: x 129 | x open
for i in range(128):
    x[T.Cast("int32", T.Cast("int8", i) + T.int8(1))] = T.float32(1)
# the same in a type that has the number: x 129 | x proved
for i in range(128):
    x[T.Cast("int32", T.Cast("uint8", i) + T.uint8(1))] = T.float32(1)
"""
"""Above each body its name, its parameters, and what is said of the accesses of each buffer."""


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_where_few_bits_may_not_hold_a_number(row: tuple[str, str, str, str]) -> None:
    _, parameters, words, body = row
    assert said_of(read_kernel("f", written(parameters, body))) == words
