"""Kernels of one idea each, as in `test_kernel_access_forms`: indices that are loaded from what the kernel has stored."""

from __future__ import annotations

import pytest

from relax_lint.model.prim_funcs import read_kernel
from tests.model.test_kernel_access_forms import said_of
from tests.model.test_kernel_facts import read
from tests.model.test_kernel_parameters import written

KERNELS = """\
# sorted: x n; p n as int64 | x proved open, a proved proved
a = T.alloc_buffer((n,), "int32")
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(a.data, T.tvm_stack_make_shape(n), 0, 1, T.int32(0), T.int64(0)), 0, T.bool(True)))
for i in range(n):
    x[a[i]] = T.float32(1)
# sorted, wide: x n; p n as int64 | x proved proved, a proved proved
a = T.alloc_buffer((n,), "int64")
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(a.data, T.tvm_stack_make_shape(n), 0, 1, T.int64(0), T.int64(0)), 0, T.bool(True)))
for i in range(n):
    x[a[i]] = T.float32(1)
# sorted to fractions: x n; p n as int64 | x proved open, a proved proved
a = T.alloc_buffer((n,), "float32")
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(a.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0)), 0, T.bool(True)))
for i in range(n):
    x[T.Cast("int64", a[i])] = T.float32(1)
# sorted of a size that is not read: x n; k scalar | x unread open, a proved proved
a = T.alloc_buffer((n,), "int64")
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(T.shift_right(n, k)), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(a.data, T.tvm_stack_make_shape(n), 0, 1, T.int64(0), T.int64(0)), 0, T.bool(True)))
for i in range(n):
    x[a[i]] = T.float32(1)
# sorted in part: x n; p n as int64 | x proved open, a proved proved
a = T.alloc_buffer((n,), "int64")
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(a.data, T.tvm_stack_make_shape(n - 1), 0, 1, T.int64(0), T.int64(0)), 0, T.bool(True)))
for i in range(n):
    x[a[i]] = T.float32(1)
# sorted into more: x n; p n as int64 | x proved open, a proved proved
a = T.alloc_buffer((n + 1,), "int64")
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(a.data, T.tvm_stack_make_shape(n), 0, 1, T.int64(0), T.int64(0)), 0, T.bool(True)))
for i in range(n + 1):
    x[a[i]] = T.float32(1)
# filled, and with a fraction: x n; k scalar | s proved proved, x proved
s = T.alloc_buffer((n,), "int64")
for i in range(n):
    s[i] = i // 2
for i in range(n):
    x[s[i]] = T.float32(1)
# filled, by two stores: x n | s proved exact proved, x open
s = T.alloc_buffer((n,), "int64")
for i in range(n):
    s[i] = i // 2
s[0] = n
for i in range(n):
    x[s[i]] = T.float32(1)
# filled, through a view: x n | s proved, v proved, x open
s = T.alloc_buffer((n,), "int64")
for i in range(n):
    s[i] = i // 2
v = T.decl_buffer((n,), "int64", data=s.data)
for i in range(n):
    x[v[i]] = T.float32(1)
# filled, through a narrow view: x n | s proved, v proved, x open
s = T.alloc_buffer((n,), "int64")
for i in range(n):
    s[i] = i // 2
v = T.decl_buffer((n * 2,), "int32", data=s.data)
for i in range(n):
    x[v[i]] = T.float32(1)
# filled at a place that data tells: x n; p n as int64 | s proved open, p proved, x open
s = T.alloc_buffer((n,), "int64")
for i in range(n):
    s[i] = i // 2
for i in range(n):
    x[s[p[i]]] = T.float32(1)
# filled, shared: x 8 | s proved proved, x proved
s = T.alloc_buffer((8,), "int64", scope="shared")
for i in T.thread_binding(8, thread="threadIdx.x"):
    s[i] = T.Cast("int64", i // 2)
    x[s[i]] = T.float32(1)
# one number, shared: x 8 | s proved proved, x proved
s = T.alloc_buffer((8,), "int64", scope="shared")
for i in T.thread_binding(8, thread="threadIdx.x"):
    s[0] = T.Cast("int64", i)
    x[s[0]] = T.float32(1)
# one number, local: x 8 | s proved proved, x proved
s = T.alloc_buffer((8,), "int64", scope="local")
for i in T.thread_binding(8, thread="threadIdx.x"):
    s[0] = T.Cast("int64", i)
    x[s[0]] = T.float32(1)
# filled, passed on: x n | s proved unread proved, x open
s = T.alloc_buffer((n,), "int64")
for i in range(n):
    s[i] = i // 2
T.evaluate(T.call_extern("int32", "g", s.data))
for i in range(n):
    x[s[i]] = T.float32(1)
# not filled at first: x n | s proved proved, x open
s = T.alloc_buffer((n,), "int64")
for i in range(n):
    x[s[i]] = T.float32(1)
    s[i] = i // 2
# copied of a parameter: x n; p m as int64 | p proved, s proved proved, x open
s = T.alloc_buffer((m,), "int64")
for i in range(m):
    s[i] = p[i]
for i in range(m):
    x[s[i]] = T.float32(1)
# copied of the second one: x n; q m as int64; p m as int64 | p proved, s proved proved, x open
s = T.alloc_buffer((m,), "int64")
for i in range(m):
    s[i] = p[i] + 3
for i in range(m):
    x[s[i]] = T.float32(1)
# copied of two: x n; q m as int64; p m as int64 | p proved, s proved proved proved, q proved, x open
s = T.alloc_buffer((m,), "int64")
for i in range(m):
    s[i] = p[i]
for i in range(m):
    s[i] = q[i]
for i in range(m):
    x[s[i]] = T.float32(1)
# one number that others store: x 4 | s proved proved, x open
s = T.alloc_buffer((1,), "int64", scope="shared")
for i in T.thread_binding(8, thread="threadIdx.x"):
    s[0] = T.Cast("int64", i)
    if i < 4:
        x[s[0]] = T.float32(1)
# one number that nobody else stores: x 4 | s proved proved, x proved
s = T.alloc_buffer((1,), "int64", scope="local")
for i in T.thread_binding(8, thread="threadIdx.x"):
    s[0] = T.Cast("int64", i)
    if i < 4:
        x[s[0]] = T.float32(1)
# copied before and behind: x n; q m as int64; p m as int64 | p proved proved, s proved proved proved, x open
s = T.alloc_buffer((m,), "int64")
for i in range(m):
    s[i] = p[i] + 3
for i in range(m):
    x[s[i]] = T.float32(1)
for i in range(m):
    s[i] = p[i] + 3
# copied before, another behind: x n; q m as int64; p m as int64 | p proved, s proved proved proved, x open, q proved
s = T.alloc_buffer((m,), "int64")
for i in range(m):
    s[i] = p[i] + 3
for i in range(m):
    x[s[i]] = T.float32(1)
for i in range(m):
    s[i] = q[i] + 3
# copied before, something else behind: x n; p m as int64 | p proved proved, s proved proved proved, x open
s = T.alloc_buffer((m,), "int64")
for i in range(m):
    s[i] = p[i] + 3
for i in range(m):
    x[s[i]] = T.float32(1)
for i in range(m):
    s[i] = p[i] + 4
# counts with a number of data: x 8; q 8 | s proved proved proved proved proved, x proved
s = T.alloc_buffer((1,), "int64")
s[0] = 0
for i in range(8):
    if s[0] < 7:
        s[0] = s[0] + 1
    x[s[0]] = T.float32(1)
# counts, and data: x 8; q 8 | s proved proved proved proved proved proved, q proved proved, x open
s = T.alloc_buffer((1,), "int64")
s[0] = 0
for i in range(8):
    if s[0] < 7:
        s[0] = s[0] + 1
    if q[0] > T.float32(0):
        s[0] = T.Cast("int64", q[i])
    x[s[0]] = T.float32(1)
# filled but for the last: x n | s proved proved, x open
s = T.alloc_buffer((n,), "int64")
for i in range(n - 1):
    s[i] = i // 2
for i in range(n):
    x[s[i]] = T.float32(1)
# one of many numbers: x n; p 1 as int64 | p proved proved proved proved, s proved proved, x open
s = T.alloc_buffer((1,), "int64")
s[0] = T.if_then_else(p[0] == 0, T.int64(0), T.if_then_else(p[0] == 1, T.int64(1), T.if_then_else(p[0] == 2, T.int64(2), T.if_then_else(p[0] == 3, T.int64(3), T.int64(4)))))
for i in range(2):
    if n > 4:
        x[s[0]] = T.float32(1)
# an element that the kernel stores to: x n; p 8 as int64 | p proved proved, s proved proved, x open
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    p[i] = n + 5
for i in range(8):
    s[i] = p[i]
for i in range(8):
    x[s[i]] = T.float32(1)
# an element that the kernel stores to, below: x n; p 8 as int64 | p proved proved, s proved proved, x proved
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    p[i] = T.int64(0)
for i in range(8):
    s[i] = p[i]
for i in range(8):
    if n > 0:
        x[s[i]] = T.float32(1)
# an element of which some were stored: x n; p 8 as int64 | p proved proved, s proved proved, x open
s = T.alloc_buffer((8,), "int64")
for i in range(7):
    p[i] = T.int64(0)
for i in range(8):
    s[i] = p[i]
for i in range(8):
    if n > 0:
        x[s[i]] = T.float32(1)
# an element that was stored, directly: x n; p 8 as int64 | p proved proved, x open
for i in range(8):
    p[i] = T.int64(0)
for i in range(8):
    if n > 0:
        x[p[i]] = T.float32(1)
# an element of which some were stored, directly: x n; p 8 as int64 | p proved proved, x open
for i in range(7):
    p[i] = T.int64(0)
for i in range(8):
    if n > 0:
        x[p[i]] = T.float32(1)
# an element before it is stored: x n; p 8 as int64 | p proved proved, x open
for i in range(8):
    if n > 0:
        x[p[i]] = T.float32(1)
for i in range(8):
    p[i] = T.int64(0)
# an own element of which some were stored: x n | s proved proved, x open
s = T.alloc_buffer((8,), "int64")
for i in range(7):
    s[i] = T.int64(0)
for i in range(8):
    if n > 0:
        x[s[i]] = T.float32(1)
# an own element through a view of which some were stored: x n | v proved, s proved, x open
s = T.alloc_buffer((8,), "int64")
v = T.decl_buffer((4,), "int64", data=s.data)
for i in range(4):
    v[i] = T.int64(0)
for i in range(8):
    if n > 0:
        x[s[i]] = T.float32(1)
# positions in a parameter: x n; p n as int64 | x proved open, p proved proved
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(p.data, T.tvm_stack_make_shape(n), 0, 1, T.int64(0), T.int64(0)), 0, T.bool(True)))
for i in range(n):
    x[p[i]] = T.float32(1)
# positions in a part of a parameter: x n; p n + 1 as int64 | x proved open, p proved proved
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(p.data, T.tvm_stack_make_shape(n), 0, 1, T.int64(0), T.int64(0)), 0, T.bool(True)))
for i in range(n + 1):
    if n > 0:
        x[p[i]] = T.float32(1)
# positions in a part of a copy: x n; p n + 1 as int64 | p proved, s proved proved proved, x proved open
s = T.alloc_buffer((n + 1,), "int64")
for i in range(n + 1):
    s[i] = p[i]
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(s.data, T.tvm_stack_make_shape(n), 0, 1, T.int64(0), T.int64(0)), 0, T.bool(True)))
for i in range(n + 1):
    if n > 0:
        x[s[i]] = T.float32(1)
# shared memory that other threads store: x 4 | s proved proved, x open
s = T.alloc_buffer((8,), "int64", scope="shared")
for i in T.thread_binding(8, thread="threadIdx.x"):
    s[i] = T.Cast("int64", i)
    if i < 4:
        x[s[7 - i]] = T.float32(1)
# a view of a filled buffer of half: x n | s proved, v proved, x open
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    s[i] = T.Cast("int64", i // 2)
v = T.decl_buffer((4,), "int64", data=s.data, elem_offset=4)
if n > 3:
    for i in range(4):
        x[v[i]] = T.float32(1)
# a scalar behind a view: x n | s proved proved, v proved, x open
s = T.alloc_buffer((2,), "int64")
v = T.decl_buffer((1,), "int64", data=s.data, elem_offset=1)
s[1] = T.int64(0)
v[0] = T.int64(9)
if n > 3:
    x[s[1]] = T.float32(1)
# a scalar behind a window: x n | s proved proved, v proved, x open
s = T.alloc_buffer((2,), "int64")
s[1] = T.int64(0)
with T.sblock("b"):
    T.reads()
    T.writes()
    v = T.match_buffer(s[1:2], (1,), "int64", offset_factor=1)
    v[0] = T.int64(9)
if n > 3:
    x[s[1]] = T.float32(1)
# a scalar that a parallel loop stores: x n | s proved proved proved, x open
s = T.alloc_buffer((2,), "int64")
s[0] = T.int64(0)
for i in T.parallel(4):
    if n > 3:
        x[s[0]] = T.float32(1)
    s[0] = T.Cast("int64", i * 3)
# a scalar of a vector: x n | s proved proved proved proved, x open
s = T.alloc_buffer((4,), "int64")
s[T.Ramp(0, 1, 4)] = T.Broadcast(T.int64(3), 4)
s[0] = T.int64(0)
s[T.Ramp(0, 1, 4)] = T.Broadcast(T.int64(7), 4)
if n > 3:
    x[s[0]] = T.float32(1)
# a scalar in a predicate: x n; p 1 as int64 | s proved proved proved, p proved proved, x open
s = T.alloc_buffer((1,), "int64")
s[0] = T.int64(3)
if p[0] > 2:
    s[0] = p[0]
if n > 3:
    x[s[0]] = T.float32(1)
"""
"""Above each body its name, its parameters, and what is said of the accesses of each buffer."""


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_each_access(row: tuple[str, str, str, str]) -> None:
    _, parameters, words, body = row
    assert said_of(read_kernel("f", written(parameters, body))) == words


ALL, BUT_ONE = "for i in range(8):\n    ", "for i in range(7):\n    "
STORED, COPIED = "p[i] = T.int64(0)\n", "q[i] = p[i]\n"


@pytest.mark.parametrize(
    ("body", "known"),
    [
        (f"{ALL}{STORED}{ALL}{COPIED}", "q p"),
        (f"{ALL}{STORED}{BUT_ONE}{COPIED}", "q p"),
        # What `p` held before the call is stored too.
        (f"{BUT_ONE}{STORED}{ALL}{COPIED}", "p"),
        (f"{ALL}{COPIED}{ALL}{STORED}", "p"),
        (f"for j in range(k):\n    {ALL.replace('    ', '        ')}{STORED}{ALL}{COPIED}", "q p"),
        (f"if k > 0:\n    {ALL.replace('    ', '        ')}{STORED}{ALL}{COPIED}", "p"),
        (f"q[0] = T.int64(0)\n{BUT_ONE}q[i + 1] = q[0]\n", "q"),
        (f"q[0] = T.int64(0)\n{BUT_ONE}q[i + 1] = q[7]\n", ""),
    ],
)
def test_elements_that_are_stored_are_those_from_before_the_call_unless_they_were_stored(
    body: str, known: str
) -> None:
    kernel = read_kernel("f", written("q 8 as int64; p 8 as int64; k scalar", body))
    values = kernel.accesses.values
    assert " ".join("qp"[place] for place in sorted(values)) == known
    for found in values.values():
        assert [(str(low), str(high)) for low, high in found.ranges] == [("0", "0")]


def test_elements_that_loops_without_steps_would_store() -> None:
    body = f"for j in range(k):\n    {ALL.replace('    ', '        ')}{STORED}{ALL}{COPIED}"
    values = read_kernel("f", written("q 8 as int64; p 8 as int64; k scalar", body)).accesses.values
    assert [len(values[place].steps) for place in (0, 1)] == [1, 0]
