"""Kernels of one idea each, as in `test_kernel_facts`: what is known of integers that a kernel has stored to memory.
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
# a parameter that is filled: x 4; p 8 as int64 | p proved proved, s proved proved, x proved
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    p[i] = i % 4
for i in range(8):
    s[i] = p[i]
for i in range(8):
    x[s[i]] = T.float32(1)
# a parameter that is filled in steps only: x 4; p 1 as int64; k n | p proved proved, s proved proved, x open
s = T.alloc_buffer((8,), "int64")
for i in range(n):
    if i == 0:
        p[0] = 3
for i in range(8):
    s[i] = p[0]
for i in range(8):
    x[s[i]] = T.float32(1)
# an own one that is filled in steps: x 4; k n | u proved proved, s proved proved, x open
s = T.alloc_buffer((8,), "int64")
u = T.alloc_buffer((1,), "int64")
for i in range(n):
    if i == 0:
        u[0] = i + 3
for i in range(8):
    s[i] = u[0]
for i in range(8):
    x[s[i]] = T.float32(1)
# an own one that is filled in every step: x 4; k n | u proved proved, s proved proved, x open
s = T.alloc_buffer((8,), "int64")
u = T.alloc_buffer((1,), "int64")
for i in range(n):
    u[0] = i % 4
for i in range(8):
    s[i] = u[0]
for i in range(8):
    x[s[i]] = T.float32(1)
# copied in steps: x n; p m as int64 | p exact proved, s proved proved proved, x held
s = T.alloc_buffer((1,), "int64")
s[0] = p[0]
for i in range(m):
    x[s[0]] = T.float32(1)
    s[0] = p[i]
# copied in steps plus: x n; p m as int64 | p exact proved, s proved proved proved, x held
s = T.alloc_buffer((1,), "int64")
s[0] = p[0] + 3
for i in range(m):
    x[s[0]] = T.float32(1)
    s[0] = p[i] + 3
# copied in steps other plus: x n; p m as int64 | p exact proved, s proved proved proved, x open
s = T.alloc_buffer((1,), "int64")
s[0] = p[0] + 3
for i in range(m):
    x[s[0]] = T.float32(1)
    s[0] = p[i] + 2
# copied in steps view: x n; p m as int64 | p exact proved, s proved proved, v proved, x open
s = T.alloc_buffer((1,), "int64")
v = T.decl_buffer((1,), "int64", data=s.data)
s[0] = p[0]
for i in range(m):
    x[v[0]] = T.float32(1)
    s[0] = p[i]
# copied in steps of two: x n; p m as int64; q m as int64 | p exact, s proved proved proved, x open, q proved
s = T.alloc_buffer((1,), "int64")
s[0] = p[0]
for i in range(m):
    x[s[0]] = T.float32(1)
    s[0] = q[i]
# copied in steps from a view: x n; p m as int64 | v exact proved, s proved proved proved, x held
s = T.alloc_buffer((1,), "int64")
v = T.decl_buffer((m,), "int64", data=p.data)
s[0] = v[0]
for i in range(m):
    x[s[0]] = T.float32(1)
    s[0] = v[i]
# copied in steps from a view of another type: x n; p m as int64 | v exact proved, s proved proved proved, x open
s = T.alloc_buffer((1,), "int32")
v = T.decl_buffer((m*2,), "int32", data=p.data)
s[0] = v[0]
for i in range(m):
    x[s[0]] = T.float32(1)
    s[0] = v[i]
# filled, seen through a view: x 4; y n | s proved, v proved, x open
s = T.alloc_buffer((8,), "int64")
v = T.decl_buffer((4,), "int64", data=s.data, elem_offset=4)
for i in range(8):
    s[i] = i
for i in range(4):
    x[v[i]] = T.float32(1)
# filled, at a place that is not read: x 8; k n | s proved open, x open
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    s[i] = i
for i in range(4):
    x[s[T.shift_right(n, i)]] = T.float32(1)
# bytes: x 4 | s proved, v proved, x open
s = T.alloc_buffer((8,), "int8")
v = T.decl_buffer((2,), "int32", data=s.data)
for i in range(8):
    s[i] = T.int8(1)
for i in range(2):
    x[v[i]] = T.float32(1)
# two ranges: x n; y m | s proved proved proved, x proved
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    if i <= m:
        s[i] = n + i
for i in range(8):
    s[i] = m + T.min(i, n)
for i in range(8):
    if m + n + 8 < n:
        x[s[i]] = T.float32(1)
# two lows: x k; y n; z m; k scalar | s proved proved proved, x proved
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    s[i] = T.min(n, 5)
for i in range(8):
    s[i] = T.min(m, 5)
for i in range(8):
    if n < 3 and m < 3 and k > 5:
        x[s[i]] = T.float32(1)
# stored what is not read: x n; p 2 as int64 | p proved proved, s proved proved, x open
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    s[i] = T.shift_right(p[0], p[1])
for i in range(8):
    x[s[i]] = T.float32(1)
# stored a truth: x n; p 2 as int64 | p proved, s proved proved, x proved
s = T.alloc_buffer((8,), "bool")
for i in range(8):
    s[i] = p[0] > 3
for i in range(8):
    if s[i] and i < n:
        x[i] = T.float32(1)
# one element of a thread: x n | s proved proved, x proved
s = T.alloc_buffer((1,), "int64", scope="local")
for t in T.thread_binding(32, thread="threadIdx.x"):
    s[0] = t
    if t < n:
        x[s[0]] = T.float32(1)
# one element of all threads: x n | s proved proved, x open
s = T.alloc_buffer((1,), "int64", scope="shared")
for t in T.thread_binding(32, thread="threadIdx.x"):
    s[0] = t
    if t < n:
        x[s[0]] = T.float32(1)
# one element of all threads, of data: x n; p 4 as int64 | p proved proved, s proved proved, x open
s = T.alloc_buffer((4,), "int64", scope="shared")
for t in T.thread_binding(32, thread="threadIdx.x"):
    s[0] = T.shift_right(p[0], p[1])
    if t < n:
        x[s[0]] = T.float32(1)
# counted down: x 9 | s proved proved proved proved, x open
s = T.alloc_buffer((1,), "int64")
s[0] = 8
for i in range(9):
    x[s[0]] = T.float32(1)
    s[0] = s[0] - 1
# counted down, then up: x 9; p 1 as int64 | s proved proved proved proved, p proved, x open
s = T.alloc_buffer((2,), "int64")
s[0] = 8
for i in range(p[0]):
    s[0] = s[0] - 1
x[T.min(s[0], 0) + 0] = T.float32(1)
# counted up: x 9; p 1 as int64 | s proved proved proved proved, p proved, x proved
s = T.alloc_buffer((2,), "int64")
s[0] = 8
for i in range(p[0]):
    s[0] = s[0] + 1
x[8 - T.min(s[0], 8)] = T.float32(1)
# counted up from below: x 9; p 1 as int64 | s proved proved proved proved, p proved, x open
s = T.alloc_buffer((2,), "int64")
s[0] = 8
for i in range(p[0]):
    s[0] = s[0] + 1
x[T.max(s[0], 8)] = T.float32(1)
# window of a view: x 4 | s proved proved, w proved, x open
s = T.alloc_buffer((8,), "int64")
v = T.decl_buffer((16,), "int32", data=s.data)
for i in range(8):
    s[i] = T.int64(1)
with T.sblock("b"):
    T.reads()
    T.writes()
    w = T.match_buffer(v[0:4], (4,), "int32", offset_factor=1)
    w[1] = 1
for i in range(8):
    x[s[i]] = T.float32(1)
# window of an own: x 4 | s proved proved, w proved, x proved
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    s[i] = T.int64(1)
with T.sblock("b"):
    T.reads()
    T.writes()
    w = T.match_buffer(s[0:4], (4,), "int64", offset_factor=1)
    w[1] = T.int64(2)
for i in range(8):
    x[s[i]] = T.float32(1)
# a parameter of another type: x n; p 8 as int8 | v proved, x open
v = T.decl_buffer((2,), "int32", data=p.data)
x[v[0]] = T.float32(1)
# a parameter in another way: x n; p 8 as int32 | v proved, x held
v = T.decl_buffer((2, 4), "int32", data=p.data)
x[v[0, 0]] = T.float32(1)
# set in the first step: x 4; k n | s proved proved, x open
s = T.alloc_buffer((1,), "int64")
for i in range(n):
    if i == 0:
        s[0] = 3
x[s[0]] = T.float32(1)
# set in the first step of some: x 4; k n | s proved proved, x proved
s = T.alloc_buffer((1,), "int64")
for i in range(n + 1):
    if i == 0:
        s[0] = 3
x[s[0]] = T.float32(1)
# started in a block, of whose reduction RLX307 tells: x 4; k n | s proved proved proved, x proved
s = T.alloc_buffer((1,), "int64")
for i in range(n):
    with T.sblock("b"):
        r = T.axis.reduce(n, i)
        with T.init():
            s[0] = 3
        s[0] = T.int64(2)
for i in range(1):
    x[s[i]] = T.float32(1)
# made in each step: x 4 | s proved proved, x open
for i in range(3):
    s = T.alloc_buffer((1,), "int64")
    if i == 0:
        s[0] = 3
    for j in range(1):
        x[s[j]] = T.float32(1)
# made in each block: x 4 | s proved proved, x open
for i in range(3):
    with T.sblock("b"):
        T.reads()
        T.writes()
        s = T.sblock_alloc_buffer((1,), "int64")
        if i == 0:
            s[0] = 3
        for j in range(1):
            x[s[j]] = T.float32(1)
# made in a block, where TVM may move it into a loop: x 4 | s proved proved, x open
with T.sblock("b"):
    T.reads()
    T.writes()
    s = T.sblock_alloc_buffer((1,), "int64")
    for i in range(3):
        if i == 0:
            s[0] = 3
        for j in range(1):
            x[s[j]] = T.float32(1)
# made in a block, where TVM may not: x 4 | s proved proved proved, x proved
with T.sblock("b"):
    T.reads()
    T.writes()
    s = T.sblock_alloc_buffer((1,), "int64")
    for i in range(3):
        if i == 0:
            s[0] = 3
        for j in range(1):
            x[s[j]] = T.float32(1)
    for j in range(1):
        T.evaluate(s[j])
# made in a block that reduces: x 4 | s proved proved proved, x proved
with T.sblock("a"):
    T.reads()
    T.writes()
    s = T.sblock_alloc_buffer((1,), "int64")
    for i in range(3):
        with T.sblock("b"):
            r = T.axis.reduce(3, i)
            with T.init():
                s[0] = 3
            s[0] = T.int64(2)
            for j in range(1):
                x[s[j]] = T.float32(1)
"""
"""Above each body its name, its parameters, and what is said of the accesses of each buffer."""


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_each_access(row: tuple[str, str, str, str]) -> None:
    name, parameters, words, body = row
    function = written(parameters, body)
    assert said_of_accesses(read_kernel("f", function)) == words
    if "RLX307" in name:
        # Of what its buffer holds without a start that rule tells; here it may be anything.
        return
    with suppress(Unusable):
        compare_function(function)
