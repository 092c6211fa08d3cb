"""Kernels of one idea each, as in `test_kernel_facts`: which accesses are proved where what is loaded, where a buffer begins
or what an index is made of is known only in part.
"""

from __future__ import annotations

import pytest

from relax_lint.model.kernels import Kernel
from relax_lint.model.prim_funcs import read_kernel
from tests.model.test_kernel_facts import read
from tests.model.test_kernel_parameters import written

KERNELS = """\
# view of an element: x n | D proved
D = T.decl_buffer((4,), "float32", data=T.address_of(x[2]), elem_offset=1)
if n >= 7:
    for i in range(4):
        D[i] = T.float32(1)
# view of an element, one less: x n | D exact
D = T.decl_buffer((4,), "float32", data=T.address_of(x[2]), elem_offset=1)
if n >= 6:
    for i in range(4):
        D[i] = T.float32(1)
# view of an element in wider ones: x n | D unread
D = T.decl_buffer((2,), "float64", data=T.address_of(x[1]))
if n >= 7:
    D[0] = T.float64(1)
# view of an even element in wider ones: x n | D unread
D = T.decl_buffer((2,), "float64", data=T.address_of(x[2]))
if n >= 6:
    D[1] = T.float64(1)
# view of an even element in wider ones, one less: x n | D unread
D = T.decl_buffer((2,), "float64", data=T.address_of(x[2]))
if n >= 5:
    D[1] = T.float64(1)
# view at a place that is not read: x n; k scalar | D unread
D = T.decl_buffer((4,), "float32", data=x.data, elem_offset=T.shift_right(n, k))
D[0] = T.float32(1)
# own at a place that is not read: x n; k scalar | D open
D = T.alloc_buffer((4,), "float32", elem_offset=T.shift_right(n, k))
D[0] = T.float32(1)
# own at a place: x n; k scalar | D open
D = T.alloc_buffer((4,), "float32", elem_offset=4)
D[0] = T.float32(1)
# window at a place that is known: x n | w exact
with T.sblock("b"):
    T.reads()
    T.writes()
    w = T.match_buffer(x[0:4], (4,), "float32", elem_offset=0, offset_factor=1)
    w[3] = T.float32(1)
# window at a place that is a size: x n; k scalar | w proved
with T.sblock("b"):
    T.reads()
    T.writes()
    w = T.match_buffer(x[k:k + 4], (4,), "float32", elem_offset=k, offset_factor=1)
    if k >= 0 and k < n - 3:
        w[3] = T.float32(1)
# first number that is not read: x n; k scalar | x open
for i in T.serial(T.shift_right(n, k), T.shift_right(n, k) + 4):
    x[i] = T.float32(1)
# step that is not read: x n; k scalar | x open
for i in T.serial(T.int64(0), T.int64(4), step=T.shift_right(n, k)):
    if n >= 4:
        x[i] = T.float32(1)
# step of a size: x n; k scalar | x open
for i in T.serial(T.int64(0), T.int64(8), step=k + 2):
    if n >= 8:
        x[i] = T.float32(1)
# step of two: x n | x proved
for i in T.serial(0, 8, step=2):
    if n >= 7:
        x[i] = T.float32(1)
# step of two, one less: x n | x exact
for i in T.serial(0, 8, step=2):
    if n >= 6:
        x[i] = T.float32(1)
# init at the first step of data: x n, 4; y n; p n as int64 | p proved, y proved proved proved, x proved
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce(4, T.if_then_else(p[i] > 0, j, 3 - j))
            with T.init():
                y[v + r] = T.float32(0)
            y[v] = y[v] + x[v, r]
# init at the first step: x n, 4; y n | y proved proved proved, x proved
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce(4, j)
            with T.init():
                y[v + r] = T.float32(0)
            y[v] = y[v] + x[v, r]
# init at a first step that is not read: x n, 4; y n; k scalar | y open proved proved, x proved
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce((T.shift_right(n, k), n), j)
            with T.init():
                y[v + r] = T.float32(0)
            y[v] = y[v] + x[v, j]
# init at a fraction: x n, 4; y n; q n | q proved, y proved proved proved, x proved
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce(4, T.Cast("int64", q[i]) + j)
            with T.init():
                y[v + r] = T.float32(0)
            y[v] = y[v] + x[v, j]
# shuffled: x n | x exact
x[0] = T.Shuffle([x[0], x[n]], [0])
# choice of vectors: x n | x exact exact
x[T.Ramp(0, 1, 4)] = T.Select(T.Broadcast(n > 4, 4), x[T.Ramp(0, 1, 4)], T.Broadcast(T.float32(1), 4))
# choice in lanes: x n | x exact exact
for i in T.vectorized(4):
    x[i] = T.Select(n > 4, x[i], T.float32(1))
# choice in a step: x n | x proved exact
for i in range(4):
    x[0] = T.Select(n > 4, x[i], T.float32(1))
# choice of truths and data: x n; p n as int64 | p proved, x proved
if T.Select(n > 3, p[0] > 0, n > 5):
    x[3] = T.float32(1)
# choice of truths and numbers: x n | x exact
if T.Select(n > 3, T.Cast("bool", n - 5), n > 5):
    x[5] = T.float32(1)
# choice of a fraction and a truth: x n; q n | q proved exact, x open
if T.Select(n > 3, q[0] > T.float32(1), q[1] > T.float32(1)):
    x[3] = T.float32(1)
# square too large in a call: x n; k scalar; l scalar | x unread
T.evaluate(T.call_extern("int32", "g", T.tvm_access_ptr(T.type_annotation("float32"), x.data, T.shift_right(n, k), 3, 1)))
# array of a handle with an element: x n; h handle | x exact
T.evaluate(T.call_packed("g", T.tvm_stack_make_array(h, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0))))
x[0] = T.float32(1)
# rest of what is not read: x n; k scalar | x unread
x[T.truncmod(T.shift_right(n, k), 3)] = T.float32(1)
# double of what is not read: x n; k scalar | x unread
x[T.shift_left(T.shift_right(n, k), T.int64(1))] = T.float32(1)
# shifted by nothing: x n | x proved
if n > 5:
    j: T.let = T.int64(0)
    x[T.shift_left(T.int64(5), j)] = T.float32(1)
# shifted by nothing, one less: x n | x exact
if n > 4:
    j: T.let = T.int64(0)
    x[T.shift_left(T.int64(5), j)] = T.float32(1)
# bits of what is not read: x n; k scalar | x unread
x[T.shift_right(n, k) & 3] = T.float32(1)
# bits with what is not read: x n; k scalar | x unread
x[T.int64(3) & T.shift_right(n, k)] = T.float32(1)
# a truth and a parameter: x n; b scalar as bool | x open
if (n > 3) & b:
    x[3] = T.float32(1)
# a parameter and a truth: x n; b scalar as bool | x open
if b & (n > 3):
    x[3] = T.float32(1)
# a parameter that is a truth: x n; b scalar as bool | x exact
if b:
    x[n] = T.float32(1)
# a truth that is a parameter: x n; b scalar as bool | x open
if (n > 3) == b:
    x[3] = T.float32(1)
# a parameter that is equal to a truth: x n; b scalar as bool | x open
if b == (n > 3):
    x[3] = T.float32(1)
# all bits: x n | x unread
for j in range(n):
    x[j & -1] = T.float32(1)
# all bits but the last: x n | x unread
for j in range(n):
    x[j & -2] = T.float32(1)
# bits of any number: x n; p n as int64 | p proved, x unread
for j in range(n):
    x[T.int64(3) | p[j]] = T.float32(1)
# bits of a size: x n | x open
x[T.int64(3) | n] = T.float32(1)
# bits of a size, the other way: x n | x open
x[n | T.int64(3)] = T.float32(1)
# bits of both: x n | x proved proved proved
if n > 15:
    for i, j in T.grid(8, 8):
        x[i ^ j] = T.float32(1)
        x[i | j] = T.float32(1)
        x[i & j] = T.float32(1)
# bits of both, less: x n | x open
if n > 6:
    for i, j in T.grid(8, 8):
        x[i & j] = T.float32(1)
# a vector from what is not read: x n; k scalar | x unread
x[T.Ramp(T.shift_right(n, k), T.int64(1), 4)] = T.Broadcast(T.float32(1), 4)
# a vector of steps that are not read: x n; k scalar | x unread
x[T.Ramp(T.int64(0), T.shift_right(n, k), 4)] = T.Broadcast(T.float32(1), 4)
# compared with what is not read: x n; k scalar | x open
if T.shift_right(n, k) > 3:
    x[3] = T.float32(1)
# what is not read, compared: x n; k scalar | x open
if n > T.shift_right(n, k):
    x[0] = T.float32(1)
# truncated by a number below zero: x n | x proved
if n > 3:
    for i in range(8):
        x[T.truncdiv(i, -2) + 3] = T.float32(1)
# truncated by a number below zero, one less: x n | x exact
if n > 3:
    for i in range(8):
        x[T.truncdiv(i, -2) + 2] = T.float32(1)
# truncated from below zero: x n | x proved
if n > 3:
    for i in range(8):
        x[T.truncdiv(i - 7, 2) + 3] = T.float32(1)
# the rest of numbers below zero: x n | x proved
if n > 3:
    for i in range(8):
        x[T.truncmod(i - 7, 4) + 3] = T.float32(1)
# the rest of numbers below zero, one less: x n | x exact
if n > 3:
    for i in range(8):
        x[T.truncmod(i - 7, 4) + 2] = T.float32(1)
# the rest by a number below zero: x n | x proved
if n > 3:
    for i in range(8):
        x[T.truncmod(i, -4)] = T.float32(1)
# truncated by a size less something: x n | x unread
for i in range(8):
    x[T.truncdiv(i, n - 5)] = T.float32(1)
# the rest by a size less something: x n | x unread
for i in range(8):
    x[T.truncmod(i, n - 5)] = T.float32(1)
# an array of a size that is not read: x n; k scalar | x unread unread
T.evaluate(T.call_packed("g", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(T.shift_right(n, k)), 0, 1, T.float32(0), T.int64(0))))
# an array at a place that is not read: x n; k scalar | x unread unread
T.evaluate(T.call_packed("g", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.shift_right(n, k))))
# a pointer to a place that is not read: x n; k scalar | x unread
T.evaluate(T.call_extern("int32", "g", T.tvm_access_ptr(T.type_annotation("float32"), x.data, T.shift_right(n, k), 1, 1)))
# a pointer to so many as is not read: x n; k scalar | x unread
T.evaluate(T.call_extern("int32", "g", T.tvm_access_ptr(T.type_annotation("float32"), x.data, 0, T.shift_right(n, k), 1)))
# stored in a while: x n; q 1 | q proved, s proved proved, x open
s = T.alloc_buffer((1,), "int64")
for i in range(4):
    while q[0] > T.float32(0):
        if i == 0:
            s[0] = T.int64(0)
    if n > 0:
        x[s[0]] = T.float32(1)
# stored in the first step: x n; q 1 | s proved proved, x proved
s = T.alloc_buffer((1,), "int64")
for i in range(4):
    if i == 0:
        s[0] = T.int64(0)
    if n > 0:
        x[s[0]] = T.float32(1)
# stored in the first step of a while: x n; q 1 | q proved, s proved proved, x proved
s = T.alloc_buffer((1,), "int64")
while q[0] > T.float32(0):
    for i in range(4):
        if i == 0:
            s[0] = T.int64(0)
        if n > 0:
            x[s[0]] = T.float32(1)
# both ways, one of each: x n; q 1 | q proved, s proved proved proved, x proved
s = T.alloc_buffer((2,), "int64")
for i in range(4):
    if q[0] > T.float32(i):
        s[0] = T.int64(0)
    else:
        s[0] = T.int64(1)
    if n > 1:
        x[s[0]] = T.float32(1)
# both ways, another of each: x n; q 1 | q proved, s proved proved proved, x open
s = T.alloc_buffer((2,), "int64")
for i in range(4):
    if q[0] > T.float32(i):
        s[0] = T.int64(0)
    else:
        s[1] = T.int64(1)
    if n > 1:
        x[s[0]] = T.float32(1)
# both ways, in a loop: x n; q 1 | q proved, s proved proved proved, x open
s = T.alloc_buffer((2,), "int64")
for i in range(4):
    if q[0] > T.float32(i):
        for j in range(n):
            s[0] = T.int64(0)
    else:
        s[0] = T.int64(1)
    if n > 1:
        x[s[0]] = T.float32(1)
# between two ends: x n; k scalar | s proved proved proved, x open
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    s[i] = T.min(i, n - 1)
for i in range(8):
    s[i] = T.min(i + 1, n - 1)
for i in range(8):
    if n > 0:
        x[s[i]] = T.float32(1)
# between two ends, one open: x n; p 8 as int64 | s proved proved proved, p proved, x open
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    s[i] = T.min(i, n - 1)
for i in range(8):
    s[i] = T.min(p[i], n - 1)
for i in range(8):
    if n > 0:
        x[s[i]] = T.float32(1)
# from another own: x n | s proved proved, u proved proved, x proved
s = T.alloc_buffer((8,), "int64")
u = T.alloc_buffer((8,), "int64")
for i in range(8):
    s[i] = T.min(i, n - 1)
for i in range(8):
    u[i] = s[7 - i]
for i in range(8):
    if n > 0:
        x[u[i]] = T.float32(1)
# from another own that is passed on: x n | s proved unread proved, u proved proved, x open
s = T.alloc_buffer((8,), "int64")
u = T.alloc_buffer((8,), "int64")
for i in range(8):
    s[i] = T.min(i, n - 1)
T.evaluate(T.call_extern("int32", "g", s.data))
for i in range(8):
    u[i] = s[7 - i]
for i in range(8):
    if n > 0:
        x[u[i]] = T.float32(1)
# counted in a view: x n | v proved, s proved, x open
s = T.alloc_buffer((8,), "int64")
v = T.decl_buffer((8,), "int64", data=s.data)
for i in range(8):
    v[i] = T.min(i, n - 1)
for i in range(8):
    if n > 0:
        x[s[i]] = T.float32(1)
# stored as another type: x n | s proved proved, v proved, x open
s = T.alloc_buffer((8,), "int64")
v = T.decl_buffer((16,), "int32", data=s.data)
for i in range(8):
    s[i] = T.int64(0)
for i in range(16):
    v[i] = i
for i in range(8):
    if n > 0:
        x[s[i]] = T.float32(1)
"""
"""Above each body its name, its parameters, and what is said of the accesses of each buffer."""


def said_of(kernel: Kernel) -> str:
    """By buffer what is said of each access: "exact" ones are outside in some call, of "open" ones that is not known."""
    found: dict[str, list[str]] = {}
    for one in kernel.accesses.accesses:
        certain = any(part.exact for part in one.obligations)
        word = "unread" if one.unread else "proved" if one.proved else "exact" if certain else "open"
        found.setdefault(one.buffer.name, []).append(word)
    return ", ".join(f"{name} {' '.join(words)}" for name, words in found.items())


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_each_access(row: tuple[str, str, str, str]) -> None:
    _, parameters, words, body = row
    assert said_of(read_kernel("f", written(parameters, body))) == words
