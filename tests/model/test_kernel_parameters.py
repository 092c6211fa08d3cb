"""What is said of kernels with parameters of every kind, one idea each, as in `test_kernel_facts`: of indices that are looked
up, loops over threads and in unknown steps, arithmetic of 32 bits, pointers that are passed on.
"""

from __future__ import annotations

import re
from textwrap import indent
from typing import Any

import pytest
import sympy
import tvm
from tvm import tirx

from relax_lint.model.prim_funcs import read_kernel
from tests.model.test_kernel_facts import read, said_of

KERNELS = """\
# returns: x n; y n | reads x, y not, elementwise xy, copies xy
for i in range(n):
    if i == 3:
        return 0
for i in range(n):
    y[i] = x[i]
# returns before: x n; y n | reads x, y not, elementwise xy, copies xy
if n > 3:
    return 0
for i in range(2):
    T.evaluate(x[i])
for i in range(n):
    y[i] = x[i]
# returns in a while: x n; y n | reads x, y not, elementwise xy
while x[0] > T.float32(0):
    if n == 3:
        return 0
for i in range(n):
    y[i] = x[i]
# returns before a while: x n; y n | reads x, y not, elementwise xy
if n > 3:
    return 0
while x[0] > T.float32(100):
    T.evaluate(0)
for i in range(n):
    y[i] = x[i]
# returns nothing: x n; y n | reads x, y whole, first x, elementwise xy, copies xy
for i in range(n):
    y[i] = x[i]
T.thread_return()
# extents that are not read: x T.shift_right(n, m); y n | reads x, x not, y whole
x[0] = T.float32(1)
for i in range(n):
    y[i] = x[i]
# extents that are not read, nothing else: x T.shift_right(n, m); y 4 | reads , x not, y not
x[0] = T.float32(1)
for i in range(8):
    if i == 4:
        break
    y[i] = T.float32(2)
# copy of what is not read: x T.shift_right(n, m); y n | reads x, y whole, first x?
for i in range(n):
    y[i] = x[i]
# copy to what is not read: x n; y T.shift_right(n, m) | reads x, y not, first x
for i in range(n):
    y[i] = x[i]
# sum to what is not read: x n; y T.shift_right(n, m) | reads xy, y not, first x y?
for i in range(n):
    y[i] = y[i] + x[i]
# thread in a thread: x n; y 32 | reads , y not
for t in T.thread_binding(8, thread="threadIdx.x"):
    for u in T.thread_binding(4, thread="threadIdx.x"):
        y[t * 4 + u] = T.float32(1)
# thread of unknown steps in a thread: x n; y 32; p 1 as int64 | reads p, y not, first p
for t in T.thread_binding(8, thread="threadIdx.x"):
    for u in T.thread_binding(p[0], thread="threadIdx.x"):
        y[t] = T.float32(1)
# thread in a thread of unknown steps: x n; y 32; p 1 as int64 | reads p, y not, first p, before py
for t in T.thread_binding(p[0], thread="threadIdx.x"):
    for u in T.thread_binding(8, thread="threadIdx.x"):
        y[u] = T.float32(1)
# threads of unknown steps: x n; y 32; p 1 as int64 | reads p, y not, first p
for t in T.thread_binding(p[0], thread="threadIdx.x"):
    for u in T.thread_binding(p[0], thread="threadIdx.x"):
        y[u] = T.float32(1)
# init at an unknown place: x n, 4; y n; p n as int64 | reads xyp, y whole, first x p, looks up p
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce(4, j)
            with T.init():
                y[p[v]] = T.float32(0)
            y[v] = y[v] + x[v, r]
# init from the second step: x n, 8; y n | reads xy, y whole, first x
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce(8, j + 1)
            with T.init():
                if v < 3:
                    y[v] = T.float32(0)
            y[v] = y[v] + x[v, r]
# init reduces up to a loop: x n, n; y n | reads x, y whole, first x
for i in range(n):
    for j in range(n):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce(i + 1, j)
            with T.init():
                y[v] = T.float32(0)
            y[v] = y[v] + x[v, r]
# shuffled: x n; y n; p n | reads xyp, x not, y at 0 1, p not, opaque xyp
y[0] = T.Shuffle([x[0], x[1]], [0])
# stored in unknown steps: x n; y 4; k scalar | reads xy, y not, first x, elementwise xy
for i in T.serial(T.int64(0), T.int64(4), step=k):
    y[2] = x[2]
y[2] = y[2] + x[2]
# stored and loaded in unknown steps: x n; y 4; k scalar | reads x, y not, first x?
for i in T.serial(T.int64(0), T.int64(4), step=k):
    y[2] = x[2]
    y[2] = y[2] + x[2]
# carried in unknown steps: x n; y n; k scalar | reads xy, y at 0 1, first x
y[0] = x[0]
for i in T.serial(T.int64(0), T.int64(4), step=k):
    y[i + 1] = y[i] + x[2]
# copies of two: x n; y 2; c 2 | reads xc, y whole, first x c, elementwise xy
y[0] = x[0]
y[1] = c[1]
# copies of one: x n; y 2; c 2 | reads c, y whole, first c, elementwise cy, copies cy
y[0] = c[0]
y[1] = c[1]
# copied through: x n; y 2; c 2 | reads c, y whole, first c
s = T.alloc_buffer((2,), "float32")
s[1] = c[1]
y[1] = s[1]
y[0] = c[0]
# wider elements: x n; y n as float32x4 | reads x, y whole, first x
for i in range(n):
    y[i] = T.Broadcast(x[i], 4)
# narrower elements: x n as float32x4; y n as float32 | reads xy, x not, y whole, opaque xy
for i in range(n):
    y[i] = T.Shuffle([x[i]], [0])
# passed before a store: x 4; y 4 | reads x, y not
T.evaluate(T.call_extern("int32", "g", T.tvm_access_ptr(T.type_annotation("float32"), x.data, 0, 4, 1)))
y[0] = T.float32(1)
# passed behind a load: x 4; y 4 | reads x, y not, first x
T.evaluate(T.call_extern("int32", "h", x[0]))
T.evaluate(T.call_extern("int32", "g", T.tvm_access_ptr(T.type_annotation("float32"), y.data, 0, 4, 2)))
# address of an element: x n; y n | reads x, x not, opaque x
T.evaluate(T.call_extern("int32", "g", T.address_of(x[0])))
# looked up: x n; y n; p m as int64 | reads xp, y at 0 1 2 3, first x? p, looks up p
for j in range(m):
    y[j] = x[p[j]]
# looked up from a window: x n; y n; p m as int64 | reads xp, y at 0 1 2 3, first x? p
w = T.decl_buffer((m,), "int64", data=p.data)
for j in range(m):
    y[j] = x[w[j]]
# looked up on the diagonal: x n; y n; p m, m as int64 | reads xp, y at 0 1 2 3, first x? p
for j in range(m):
    y[j] = x[p[j, j]]
# looked up all: x n; y n; p m, 3 as int64 | reads xp, y at 0 1 2 3, first x? p, looks up p
for i in range(m):
    for j in range(3):
        y[j] = x[p[i, j]]
# looked up in rows of one: x n; y n; p m, 1 as int64 | reads xp, y at 0 1, first x? p, looks up p
for i in range(m):
    for j in range(1):
        y[j] = x[p[i, j]]
# looked up from 1: x n; y n; p m as int64 | reads xp, y not, first x? p?
for j in range(1, m):
    y[j] = x[p[j]]
# looked up the other way: x n; y n; p m as int64 | reads xp, y at 0 1 2 3, first x? p
for j in range(m):
    y[j] = x[p[m - 1 - j]]
# looked up every second: x n; y n; p m * 2 as int64 | reads xp, y at 0 1 2 3, first x? p?
for j in range(m):
    y[j] = x[p[j * 2]]
# looked up at an unknown place: x n; y n; p m as int64 | reads xyp, y at 0 1 2 3, first x? y? p
for j in range(m):
    y[j] = x[p[T.Cast("int64", y[j])]]
# looked up below another: x n; y n; p m as int64 | reads xp, y not, first x? p?
for i in range(n):
    for j in range(m):
        for l in range(i):
            y[j] = x[p[j]]
# looked up in unknown steps: x n; y n; p m as int64; k scalar | reads xp, y not, first x? p?
for i in T.serial(T.int64(0), T.int64(4), step=k):
    for j in range(m):
        y[j] = x[p[j]]
# looked up in a local: x n; y n; p m as int64 | reads xp, y at 0 1 2 3, first x? p, before py
s = T.alloc_buffer((m,), "int64")
for j in range(m):
    s[j] = p[j]
for j in range(m):
    y[j] = x[s[j]]
# looked up unread: x n; y n; p T.shift_right(n, m) as int64 | reads xp, y at 0 1 2 3, first x? p?
for j in range(m):
    y[j] = x[p[j]]
# looked up up to another: x n; y n; p m as int64 | reads xp, y not, first x? p?
for i in range(n):
    for j in range(i):
        y[j] = x[p[j]]
# looked up cast: x n; y n; p m as int32 | reads xp, y at 0 1 2 3, first x? p, elementwise py, looks up p
for j in range(m):
    y[j] = x[T.Cast("int64", p[j])]
# looked up in other steps: x n; y n; p m as int64 | reads xp, y at 0 1 2 3, first x? p?, looks up p
for i in range(n):
    for j in range(m):
        y[j] = x[p[j]]
# narrow quotient: int32:x n; y m | reads x, y whole, first x?
for i in range(m):
    y[i] = x[n // m * m]
# narrow product: int32:x n; y n; k scalar as int32 | reads x, y not, first x?, elementwise xy, copies xy
for i in range(n - k * (n // 2)):
    y[i] = x[i]
# narrow product 2: int32:x n; y n; k scalar as int32 | reads x, y not, elementwise xy, copies xy
for i in range(n + n * (n // 2)):
    if i < n:
        y[i] = x[i]
# narrow, -2: int32:x n; y n | reads x, y not, first x?
for i in range(n // -2 + n):
    y[i] = x[i]
for i in range(0 - n // -2):
    y[i + n + n // -2] = x[i]
# narrow negative multiple: int32:x n * 3; y n * 3 | reads x, y not, first x, elementwise xy, copies xy
for i in range(n * 3):
    y[n * 3 - 3 - 3 * (i % n)] = x[n * 3 - 3 - 3 * (i % n)]
# narrow negative multiple 2: int32:x n; y n | reads x, y not, first x
for i in range(n):
    y[n * 3 - 3 - 3 * (i % n)] = x[n * 3 - 3 - 3 * (i % n)]
# narrow negative multiple 3: int32:x n; y n | reads x, y whole, first x, elementwise xy, copies xy
for i in range(n):
    y[i + (0 - 3 * (i % n)) * 0] = x[i]
# narrow power: int32:x n, n; y n | reads x, y whole, first x
for i in range(n):
    y[i] = x[(i * i - 2) // 3, i]
# narrow power 2: int32:x n; y n | reads x, y whole, first x
for i in range(n):
    y[i] = x[(i * i - 2) // 3]
# narrow choice: int32:x n, n; y n | reads x, y whole, first x
for i in range(n):
    y[i] = x[T.max(i, 3) % n, i]
# init in a while: x n; y n | reads xy, y not
while x[0] > T.float32(0):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, 0)
            r = T.axis.reduce(4, j)
            with T.init():
                y[v] = T.float32(0)
            y[v] = y[v] + x[r]
"""
"""Above each body its name, its parameters, and what is said of it."""


def written(parameters: str, body: str) -> Any:
    """A kernel of parameters such as `x n, 4 as float16; k scalar`, with symbols of 64 bits unless it begins with `int32:`."""
    dtype, _, given = parameters.rpartition(":")
    head, buffers = [], []
    for one in given.split("; "):
        name, _, rest = one.partition(" ")
        extents, _, kind = rest.partition(" as ")
        if extents in ("scalar", "handle"):
            head.append(f"{name}: T.{'handle' if extents == 'handle' else kind or 'int64'}")
        else:
            head.append(f"{name}_: T.handle")
            buffers.append(f'{name} = T.match_buffer({name}_, ({extents},), "{kind or "float32"}")\n')
    lines = "".join(buffers) + body
    symbols = "".join(f"{s} = T.{dtype or 'int64'}()\n" for s in "nm" if re.search(rf"\b{s}\b", lines))
    first = f"@T.prim_func(private=True{', s_tir=True' if 'sblock' in body else ''})\n"
    return tvm.script.from_source(
        f"{first}def f({', '.join(head)}):\n{indent(symbols + lines, '    ')}", check_well_formed=False
    )


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_a_kernel(row: tuple[str, str, str, str]) -> None:
    _, parameters, words, body = row
    assert said_of(read_kernel("f", written(parameters, body))) == words


def with_one_variable(*loops: tuple[int, str]) -> Any:
    """A kernel that fills elements of `x` or `y`, of five, in loops which have one variable; TVM calls it ill-formed."""
    text = "\n".join(
        f"for i{at} in T.serial(0, {extent}):\n    {buffer}[i{at}] = T.float32(1)"
        for at, (extent, buffer) in enumerate(loops)
    )
    function = written("x 5; y 5", text)
    first, *others = function.body.seq
    variable = first.loop_var
    alike = [
        tirx.For(
            variable,
            loop.min,
            loop.extent,
            loop.kind,
            tirx.BufferStore(loop.body.buffer, loop.body.value, [variable]),
        )
        for loop in others
    ]
    return tirx.PrimFunc(function.params, tirx.SeqStmt([first, *alike]), attrs=function.attrs)


@pytest.mark.parametrize(
    ("loops", "whole"),
    [
        (((3, "y"), (5, "x")), "x"),
        (((5, "x"), (3, "y")), "x"),
        (((3, "y"), (5, "x"), (5, "x")), "x"),
        (((3, "y"), (5, "x"), (3, "y")), "x"),
        (((5, "y"), (5, "x")), "xy"),
        (((3, "y"), (3, "x")), ""),
    ],
)
def test_loops_that_share_a_variable_have_a_range_each(
    loops: tuple[tuple[int, str], ...], whole: str
) -> None:
    found = read_kernel("f", with_one_variable(*loops)).whole_writes
    assert "".join("xy"[place] for place in sorted(found) if found[place] == sympy.true) == whole


def test_of_a_statement_of_another_kind_nothing_is_known() -> None:
    function = written("x 5; y 5", "y[0] = x[0]")
    # A block that nothing realizes.
    block = written("x 5; y 5", "with T.sblock('b'):\n    y[0] = x[0]").body.block
    body = tirx.SeqStmt([function.body, block])
    found = read_kernel("f", tirx.PrimFunc(function.params, body, attrs=function.attrs))
    assert [set(found.reads), set(found.writes), set(found.opaque)] == [{0, 1}] * 3
