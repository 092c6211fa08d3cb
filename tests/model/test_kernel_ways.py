"""Kernels of one idea each, as in `test_kernel_access_forms`: choices, ways out, and what was stored in some steps."""

from __future__ import annotations

import pytest
from tvm import tirx

from relax_lint.model.prim_funcs import read_kernel
from tests.model.test_kernel_access_forms import said_of
from tests.model.test_kernel_facts import read
from tests.model.test_kernel_parameters import written

KERNELS = """\
# choice of a parameter and a truth: x n; b scalar as bool | x open
if T.Select(n > 3, b, n > 5):
    x[3] = T.float32(1)
# choice of a truth and a parameter: x n; b scalar as bool | x open
if T.Select(n > 3, n > 5, b):
    x[5] = T.float32(1)
# choice of what is not read and a truth: x n; k scalar | x proved
if T.Select(n > 3, T.shift_right(n, k) > 2, n > 5):
    x[3] = T.float32(1)
# choice of two parameters: x n; b scalar as bool; d scalar as bool | x exact
if T.Select(n > 3, b, d):
    x[3] = T.float32(1)
# truths of two parameters: x n; b scalar as bool; d scalar as bool | x exact
if b == d:
    x[0] = T.float32(1)
# a truth compared with data: x n; q n | q exact, x open
if (n > 3) == (q[0] > T.float32(1)):
    x[3] = T.float32(1)
# the first way leads out: x n | x exact exact
if n > 3:
    return 0
else:
    x[0] = T.float32(1)
x[n] = T.float32(1)
# the second way leads out: x n | x proved open
if n > 3:
    x[0] = T.float32(1)
else:
    return 0
x[3] = T.float32(1)
# both ways lead out: x n | x proved
if n > 3:
    return 0
else:
    return 0
x[n] = T.float32(1)
# both ways lead out of the step only: x n | x proved exact
for i in range(n):
    if i > 3:
        break
    else:
        continue
    x[n] = T.float32(1)
x[n] = T.float32(1)
# one way leads out: x n | x proved
if n <= 3:
    return 0
x[3] = T.float32(1)
# the end of the first way leads out: x n | x proved
if n <= 3:
    T.evaluate(0)
    return 0
x[3] = T.float32(1)
# a way out between: x n | x open
if n <= 3:
    if n == 2:
        return 0
    T.evaluate(0)
x[3] = T.float32(1)
# all ways lead out inside: x n | x proved
if n <= 3:
    if n == 2:
        return 0
    else:
        return 1
x[3] = T.float32(1)
# stored in so many steps as data tells: x n; p 1 as int64 | p proved, s proved proved, x open
s = T.alloc_buffer((1,), "int64")
for j in range(p[0]):
    s[0] = T.int64(0)
if n > 0:
    x[s[0]] = T.float32(1)
# stored in so many steps as is not read: x n; k scalar | s proved proved, x open
s = T.alloc_buffer((1,), "int64")
for j in range(T.shift_right(n, k)):
    s[0] = T.int64(0)
if n > 0:
    x[s[0]] = T.float32(1)
# stored in so many steps as a size tells: x n | s proved proved, x open
s = T.alloc_buffer((1,), "int64")
for j in range(n):
    s[0] = T.int64(0)
if n > 0:
    x[s[0]] = T.float32(1)
# stored and used in steps that are not read: x n; k scalar | s proved proved, x proved
s = T.alloc_buffer((1,), "int64")
for j in range(T.shift_right(n, k)):
    s[0] = T.int64(0)
    if n > 0:
        x[s[0]] = T.float32(1)
# stored in the first of steps that are not read: x n; k scalar | s proved proved, x proved
s = T.alloc_buffer((1,), "int64")
for j in range(T.shift_right(n, k)):
    for i in range(4):
        if i == 0:
            s[0] = T.int64(0)
        if n > 0:
            x[s[0]] = T.float32(1)
# stored at the first number that is not read: x n; k scalar | s proved proved, x open
s = T.alloc_buffer((1,), "int64")
for j in T.serial(T.shift_right(n, k), T.shift_right(n, k) + 4):
    if j == 0:
        s[0] = T.int64(0)
    if n > 0:
        x[s[0]] = T.float32(1)
# sorted, and loaded under a condition: x n; p n as int64 | x proved proved, a proved proved, p proved
a = T.alloc_buffer((n,), "int64")
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(a.data, T.tvm_stack_make_shape(n), 0, 1, T.int64(0), T.int64(0)), 0, T.bool(True)))
for i in range(n):
    if p[i] > 0:
        x[a[i]] = T.float32(1)
# sorted under a condition: x n; k scalar | x proved open, a proved proved
a = T.alloc_buffer((n,), "int64")
if k > 0:
    T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(a.data, T.tvm_stack_make_shape(n), 0, 1, T.int64(0), T.int64(0)), 0, T.bool(True)))
for i in range(n):
    x[a[i]] = T.float32(1)
# in the first step, where data decides: x n; q 8 | q proved, s proved proved, x open
s = T.alloc_buffer((1,), "int64")
for i in range(4):
    for j in range(4):
        if q[j] > T.float32(0):
            if i == 0:
                s[0] = T.int64(0)
        if n > 0:
            x[s[0]] = T.float32(1)
# in the first step, where a size decides: x n | s proved proved, x proved
s = T.alloc_buffer((1,), "int64")
for i in range(4):
    if n > 2:
        if i == 0:
            s[0] = T.int64(0)
    if n > 2:
        x[s[0]] = T.float32(1)
# counts with data, and from data: x 8; q 8 | s proved proved proved proved proved, q proved, x open
s = T.alloc_buffer((1,), "int64")
s[0] = 0
for i in range(8):
    s[0] = T.min(s[0] + 1, T.int64(7))
    s[0] = T.max(T.Cast("int64", q[i]), T.int64(0))
    x[s[0]] = T.float32(1)
# filled over an extent that is not read: x n; k scalar | s open proved, x open
s = T.alloc_buffer((n,), "int64")
for i in range(T.shift_right(n, k)):
    s[i] = i // 2
for i in range(n):
    x[s[i]] = T.float32(1)
# filled, and asked for another shape: x n | s proved proved, x proved
s = T.alloc_buffer((n, 2), "int64")
for i in range(n):
    for j in range(2):
        s[i, j] = i // 2
for i in range(n):
    x[s[i, 1]] = T.float32(1)
# first of a strided pair: x n; y n, 2 | s proved proved, x proved
s = T.alloc_buffer((n, 2), "int64")
for i in range(n):
    s[i, 0] = i // 2
for i in range(n):
    x[s[i, 0]] = T.float32(1)
# stored in a parameter in so many steps as a number tells: x n; p 8 as int64; k scalar | p proved proved, s proved proved, x open
s = T.alloc_buffer((8,), "int64")
for j in range(k):
    for i in range(8):
        p[i] = T.int64(0)
for i in range(8):
    s[i] = p[i]
for i in range(8):
    if n > 0:
        x[s[i]] = T.float32(1)
# stored in a parameter in the first step: x n; p 8 as int64; k scalar | p proved proved, s proved proved, x open
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    for j in range(k):
        if j == 0:
            p[i] = T.int64(0)
for i in range(8):
    s[i] = p[i]
for i in range(8):
    if n > 0:
        x[s[i]] = T.float32(1)
# stored in a buffer in the first step: x n; k scalar | u proved proved, s proved proved, x open
u = T.alloc_buffer((8,), "int64")
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    for j in range(k):
        if j == 0:
            u[i] = T.int64(0)
for i in range(8):
    s[i] = u[i]
for i in range(8):
    if n > 0:
        x[s[i]] = T.float32(1)
# stored in a parameter in each step: x n; p 8 as int64 | p proved proved, s proved proved, x proved
s = T.alloc_buffer((8,), "int64")
for i in range(8):
    for j in range(3):
        p[i] = T.int64(0)
for i in range(8):
    s[i] = p[i]
for i in range(8):
    if n > 0:
        x[s[i]] = T.float32(1)
# in a view of what a kernel stores: x n; p 8 as int64 | p proved, v proved, s proved proved, x open
s = T.alloc_buffer((16,), "int64")
v = T.decl_buffer((16,), "int32", data=p.data)
for i in range(8):
    p[i] = T.int64(0)
for i in range(16):
    s[i] = T.Cast("int64", v[i])
for i in range(16):
    if n > 0:
        x[s[i]] = T.float32(1)
# copied before, and the second parameter: x n; q m as int64; p m as int64 | p proved proved, s proved proved proved, x open
s = T.alloc_buffer((m,), "int64")
for i in range(m):
    s[i] = p[i] + 3
for j in range(2):
    for i in range(m):
        x[s[i]] = T.float32(1)
    for i in range(m):
        s[i] = p[i] + 3
# the other way leads out, and more: x n; k scalar | x exact proved
for i in range(4):
    if k > i:
        continue
    else:
        x[0] = T.float32(1)
    if n > 3:
        x[3] = T.float32(1)
"""
"""Above each body its name, its parameters, and what is said of the accesses of each buffer."""


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_each_access(row: tuple[str, str, str, str]) -> None:
    _, parameters, words, body = row
    assert said_of(read_kernel("f", written(parameters, body))) == words


def test_of_a_statement_of_another_kind_the_accesses_are_not_known() -> None:
    function = written("x 5; y 5", "y[0] = x[0]")
    # A block that nothing realizes.
    block = written("x 5; y 5", "with T.sblock('b'):\n    y[0] = x[0]").body.block
    found = read_kernel(
        "f", tirx.PrimFunc(function.params, tirx.SeqStmt([function.body, block]), attrs=function.attrs)
    )
    assert found.accesses.unread == ("the kernel has a statement of the kind SBlock",)


def test_truths_that_have_one_name_are_told_apart() -> None:
    body = tirx.Evaluate(tirx.const(0, "int32"))
    names = ["n", "n", "n", "b"]
    function = tirx.PrimFunc([tirx.Var(name, "bool") for name in names], body)
    symbols = read_kernel("f", function).accesses.symbols
    assert [symbol.name for symbol in symbols] == ["n", "n_1", "n_2", "b"]
