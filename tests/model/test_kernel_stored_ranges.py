"""Kernels of one idea each, as in `test_kernel_facts`: between which numbers all are that a kernel stores to a parameter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import tvm

from relax_lint.model.kernels import Kernel
from relax_lint.model.prim_funcs import read_kernel
from tests.model.test_kernel_facts import read
from tests.model.test_kernel_parameters import written

KERNELS = """\
# positions: p n as int64 | p 0 to n - 1 reached
for i in range(n):
    p[i] = i
# positions times sums: p n as int64; k m | p 0 to m*n - m + 3*n - 3 reached
for i in range(n):
    p[i] = i * m + i * 3
# differences: p n as int64; k m | nothing
for i in range(n):
    p[i] = i * m - i
# squares: p n as int64 | nothing
for i in range(n):
    p[i] = i * i
# two axes: p n, m as int64 | p 1 - m to 3*n - 3 reached
for i, j in T.grid(n, m):
    p[i, j] = i * 3 - j
# product of axes: p n, m as int64 | nothing
for i, j in T.grid(n, m):
    p[i, j] = i * j
# one loop more: p n as int64; k m | p 0 to m + n - 2
for i, j in T.grid(n, m):
    p[i] = i + j
# a loop in the range of another one: p 8 as int64 | p 0 to 7
for i in range(8):
    for j in range(i, 8):
        p[j] = j
# a loop up to another one: p 8 as int64 | p 0 to 7
for i in range(8):
    for j in range(i + 1):
        p[j] = j
# steps that are not known: p 8 as int64; k scalar | nothing
for j in T.serial(0, 8, step=k + 2):
    p[j] = j
# every second one: p 8 as int64 | p 0 to 6
for j in T.serial(0, 8, step=2):
    p[j] = j
# under a condition: p n as int64 | p 0 to n - 1
for i in range(n):
    if i > 3:
        p[i] = i
# a rest: p n as int64 | p 0 to 3
for i in range(n):
    p[i] = i % 4
# below 32 bits: p 4 as int32; k scalar as int32 | p k - 5 to k - 5 reached unless -k - 2147483644
for i in range(4):
    p[i] = k - 5
# above 32 bits: p 4 as int32; k scalar as int32 | p k + 5 to k + 5 reached unless k - 2147483643
for i in range(4):
    p[i] = k + 5
# sizes in 32 bits: p 4 as int32; k n | p 3*n to 3*n + 3 reached unless n - 2147483648 unless n - 715827882
for i in range(4):
    p[i] = T.Cast("int32", n) * 3 + i
# of data: p 4 as int64; q 4 as int64; z 4 as int64 | p 3*min(q) to 3*max(q)
for i in range(4):
    p[i] = q[i] * 3
# of two: p 4 as int64; q 4 as int64; z 4 as int64 | nothing
for i in range(4):
    p[i] = q[i] * z[i]
# of two, less: p 4 as int64; q 4 as int8; z 4 as int64 | nothing
for i in range(4):
    p[i] = T.Cast("int64", q[i]) * T.Cast("int64", q[3 - i])
# sorted: p 4 as int64; y 4 | p 0 to 3
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(y.data, T.tvm_stack_make_shape(4), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(p.data, T.tvm_stack_make_shape(4), 0, 1, T.int64(0), T.int64(0)), 0, T.bool(True)))
# sorted as fractions: y 4; q 4 | nothing
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(y.data, T.tvm_stack_make_shape(4), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(q.data, T.tvm_stack_make_shape(4), 0, 1, T.float32(0), T.int64(0)), 0, T.bool(True)))
# sorted, of small numbers: p n as int8; y n | p 0 to n - 1 unless n - 129
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(y.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(p.data, T.tvm_stack_make_shape(n), 0, 1, T.int64(0), T.int64(0)), 0, T.bool(True)))
# sorted into a view: p 4 as int64; y 4 | nothing
v = T.decl_buffer((4,), "int64", data=p.data)
T.evaluate(T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(y.data, T.tvm_stack_make_shape(4), 0, 1, T.float32(0), T.int64(0)), T.tvm_stack_make_array(v.data, T.tvm_stack_make_shape(4), 0, 1, T.int64(0), T.int64(0)), 0, T.bool(True)))
# passed on: p 4 as int64 | nothing
for i in range(4):
    p[i] = i
T.evaluate(T.call_extern("int32", "g", p.data))
# with an element that is not set: p 4 as int64; k n | p 3 to 3 if n - 1
s = T.alloc_buffer((4,), "int64")
for i in range(n):
    s[0] = 3
for i in range(4):
    p[i] = s[0]
"""
"""Above each body its name, its parameters, and what is said of what is stored to each of them."""


def said_of_values(kernel: Kernel) -> str:
    """By parameter the ends; whether both are reached; below zero must be one of each of what follows `unless`, and none of
    what follows `if`.
    """
    values = kernel.accesses.values
    found = (f"{kernel.parameters[place].name} {' '.join(_words(kernel, place))}" for place in values)
    return ", ".join(found) or "nothing"


def _words(kernel: Kernel, place: int) -> Iterator[str]:
    stored, shown = kernel.accesses.values[place], kernel.accesses.terms.expression
    yield from (f"{shown(low)} to {shown(high)}" for low, high in stored.ranges)
    if stored.reached:
        yield "reached"
    yield from (f"unless {' and '.join(str(shown(p)) for p in group)}" for group in stored.wraps)
    yield from (f"if {shown(p)}" for p in (*stored.steps, *stored.reductions))


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_what_is_stored(row: tuple[str, str, str, str]) -> None:
    name, parameters, words, body = row
    if name == "steps that are not known" and tvm.__version__.startswith("0.26"):
        pytest.skip("TVM 0.26 takes a step only of the dtype of the loop")
    assert said_of_values(read_kernel("f", written(parameters, body))) == words
