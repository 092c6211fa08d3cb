"""What is wrong inside of kernels, one idea each, as in `test_kernel_facts`: races, early reads, unused and large buffers."""

from __future__ import annotations

import pytest
import tvm

from relax_lint.model.kernel_inside.findings import Inside, OnChip
from relax_lint.model.kernel_inside.reading import beyond
from relax_lint.model.prim_funcs import read_kernel
from tests.model.test_kernel_facts import read
from tests.model.test_kernel_parameters import written

KERNELS = """\
# parallel, one step: y 4; x 4 | nothing
for i in T.parallel(1):
    y[0] = y[0] + x[i]
# parallel, two steps: y 4; x 4 | y[0] in each i reads
for i in T.parallel(2):
    y[0] = y[0] + x[i]
# parallel in a view of a pointer: y 4; h handle | nothing
D = T.decl_buffer((4,), "float32", data=h)
for i in T.parallel(4):
    D[0] = T.Cast("float32", i)
# parallel in a view: y 4; x 4 | nothing
D = T.decl_buffer((4,), "float32", data=y.data)
for i in T.parallel(4):
    D[0] = T.Cast("float32", i)
# a store of another kind: y 4; x 4 | s[0] in each i reads, s[0] early
s = T.alloc_buffer((4,), "float32")
for i in T.parallel(4):
    s[0] = s[0] + T.Cast("float32", i)
    y[i] = s[0]
# while in parallel: y 4; x 4 | nothing
for i in T.parallel(4):
    while x[0] > T.float32(0):
        y[0] = T.Cast("float32", i)
# guarded by data: y 4; x 4 | nothing
for i in T.parallel(4):
    if x[0] > T.float32(0):
        y[0] = T.Cast("float32", i)
# guarded by a size: y n; x n | y[0] in each i
for i in T.parallel(4):
    if n > 3:
        y[0] = T.Cast("float32", i)
# read before in each step: y 4; x 4 | s[0] early
for i in T.parallel(4):
    s = T.alloc_buffer((4,), "float32")
    y[i] = s[0]
    s[0] = x[i]
# read before in a step: y 4; x 4 | s[0] in each i, s[0] early
s = T.alloc_buffer((4,), "float32")
for i in T.parallel(4):
    y[i] = s[0]
    s[0] = x[i]
# read before where the other side decides: y 4; x 4 | nothing
s = T.alloc_buffer((4,), "float32")
for i in range(4):
    if i > 0 and s[0] > T.float32(0):
        y[i] = x[i]
    s[0] = x[i]
# read before where the other side decides that it is so: y 4; x 4 | nothing
s = T.alloc_buffer((4,), "float32")
for i in range(4):
    if i == 0 or s[0] > T.float32(0):
        y[i] = x[i]
    s[0] = x[i]
# read before the other side decides: y 4; x 4 | s[0] early
s = T.alloc_buffer((4,), "float32")
for i in range(4):
    if s[0] > T.float32(0) and i > 0:
        y[i] = x[i]
    s[0] = x[i]
# read before one of two is chosen: y 4; x 4 | s[0] early
s = T.alloc_buffer((4,), "float32")
for i in range(4):
    y[i] = T.if_then_else(s[0] > T.float32(0), x[i], x[0])
    s[0] = x[i]
# read before as one of two: y 4; x 4 | nothing
s = T.alloc_buffer((4,), "float32")
for i in range(4):
    y[i] = T.if_then_else(i > 0, s[0], x[0])
    s[0] = x[i]
# read before in steps: y 4; x 4 | s[0] early
s = T.alloc_buffer((4,), "float32")
for i in range(4):
    y[i] = s[0]
    s[0] = x[i]
# on a chip of a size: y n; x n | nothing
s = T.alloc_buffer((n, 4), "float32", scope="shared")
for t in T.thread_binding(4, thread="threadIdx.x"):
    s[0, t] = x[t]
    y[t] = s[0, t]
# a function of the step: y 4; x 4 | y[0] in each i
for i in T.parallel(4):
    y[0] = T.exp(T.Cast("float32", i))
# a call with the step: y 4; x 4 | nothing
for i in T.parallel(4):
    y[0] = T.call_extern("float32", "g", i)
# two names: y 4; x 4 | y[0] in each i
for i in T.parallel(4):
    v: T.let = i
    w: T.let = v * 2
    y[0] = T.Cast("float32", w)
# two names that cancel: y 4; x 4 | nothing
for i in T.parallel(4):
    v: T.let = i * 2
    w: T.let = i + i
    y[0] = T.Cast("float32", w - v)
# two names that do not cancel: y 4; x 4 | y[0] in each i
for i in T.parallel(4):
    v: T.let = i * 2
    w: T.let = i + i + i
    y[0] = T.Cast("float32", w - v)
# a quotient that is one number: y 4; x 4 | nothing
for i in T.parallel(4):
    y[0] = T.Cast("float32", i // 4)
# the largest of what grows: y 4; x 4 | y[0] in each i reads
for i in T.parallel(4):
    y[0] = T.max(y[0] + T.float32(1), x[0])
# the largest: y 4; x 4 | nothing
for i in T.parallel(4):
    y[0] = T.max(y[0], x[0])
# the largest of two: y 4; x 4 | y[0] in each i reads
for i in T.parallel(4):
    y[0] = T.max(y[0], y[1])
# another element: y 4, 4; x 4 | nothing
for i in T.parallel(4):
    y[0, 1] = y[0, 0] + x[0]
# another row: y 4, 4; x 4 | nothing
for i in T.parallel(4):
    y[1, 0] = y[0, 0] + x[0]
# the same element: y 4, 4; x 4 | y[0, 1] in each i reads
for i in T.parallel(4):
    y[0, 1] = y[0, 1] + x[0]
# launched: y 4; x 4 | y[0] in each t
t = T.launch_thread("blockIdx.x", T.int64(4))
y[0] = T.Cast("float32", t)
# launched, narrow: y 4; x 4 | y[0] in each t
t = T.launch_thread("blockIdx.x", 4)
y[0] = T.Cast("float32", t)
# launched, for a size: y n; x n | y[0] in each t
t = T.launch_thread("blockIdx.x", n)
y[0] = T.Cast("float32", t)
# launched, the same: y 4; x 4 | nothing
t = T.launch_thread("blockIdx.x", T.int64(4))
y[0] = T.Cast("float32", t // 4)
# strided: y 4; x 4 | nothing
for i in T.parallel(4):
    for j in T.serial(0, 4, step=2):
        y[j] = T.Cast("float32", i)
# a name of a truth: y 4; x 4 | y[0] in each i
for i in T.parallel(4):
    v: T.let = i > 1
    y[0] = T.Select(v, T.float32(0), T.float32(1))
# a name of data: y 4; x 4 | nothing
for i in T.parallel(4):
    v: T.let = x[i]
    y[0] = v
# leaves: y 4; x 4 | s[0] early
for i in range(4):
    s = T.alloc_buffer((4,), "float32")
    y[i] = s[0]
    if i == 1:
        break
# nothing but how far rows are apart: y 4; x 4 | nothing
e = T.alloc_buffer((1,), "int64")
s = T.alloc_buffer((2, 2), "float32", strides=[e[0], T.int64(1)])
e[0] = T.int64(2)
s[1, 0] = x[0]
y[0] = s[1, 0]
# for a size the element of each step: y 4; x 4 | nothing
for i in T.parallel(4):
    y[T.if_then_else(n > 3, i, T.int64(0))] = T.Cast("float32", i)
# for a size another number in each step: y 4; x 4 | y[0] in each i
for i in T.parallel(4):
    y[0] = T.if_then_else(n > 3, T.Cast("float32", i), T.float32(0))
"""
"""Above each body its name, its parameters, and what is said of it."""


def said_of(inside: Inside) -> str:
    """The elements that several steps of a loop store to ("reads": made of themselves), those that are read early, and
    what nobody reads.
    """
    words = [f"{one.element} in each {one.loop}{' reads' * one.reads}" for one in inside.races]
    words += [f"{one.element} early" for one in inside.unwritten_reads]
    words += [f"{one.buffer} unused" for one in inside.unused]
    return ", ".join(words) or "nothing"


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_a_kernel(row: tuple[str, str, str, str]) -> None:
    _, parameters, words, body = row
    assert said_of(read_kernel("f", written(parameters, body)).inside) == words


SHARED = (
    's = T.alloc_buffer(({}), "{}", scope="{}")\nfor i in range(4):\n    s[i{}] = x[i]\n    x[i] = s[i{}]'
)


@pytest.mark.parametrize(
    ("extents", "dtype", "scope", "size"),
    [
        ("12288,", "float32", "shared", 49152),
        ("12288,", "float32", "shared.dyn", 49152),
        ("4, 3", "float32", "local", 48),
        ("4, 3", "float16x4", "local", 96),
        ("4, n", "float32", "shared", None),
        ("4, 3", "float32", "global", None),
    ],
)
def test_how_large_a_buffer_on_the_chip_is(extents: str, dtype: str, scope: str, size: int | None) -> None:
    more = ", 0" if not extents.endswith(",") else ""
    body = SHARED.format(extents, dtype, scope, more, more)
    found = read_kernel("f", written(f"x n as {dtype}", body)).inside.on_chip
    assert [one.bytes for one in found] == ([] if size is None else [size])


@pytest.mark.parametrize(
    ("target", "scope", "limit"),
    [
        ("cuda", "shared", 49152),
        # The driver gives more than that, if it is asked.
        ("cuda", "shared.dyn", None),
        ("rocm", "shared", 65536),
        ("rocm", "shared.dyn", 65536),
        ("llvm", "shared", None),
    ],
)
def test_what_a_target_has_room_for(target: str, scope: str, limit: int | None) -> None:
    kind = {
        "kind": target,
        **({"max_shared_memory_per_block": 49152, "arch": "sm_80"} if target == "cuda" else {}),
    }
    sizes = (1, 2**40) if limit is None else (limit, limit + 1)
    found = [list(beyond([OnChip("s", scope, size)], tvm.target.Target(kind))) for size in sizes]
    assert [[one.limit for one in large] for large in found] == [[], [] if limit is None else [limit]]
