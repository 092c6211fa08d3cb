"""Kernels of one idea each, as in `test_kernel_facts`, carried out on small numbers: whether they give something else where
their arguments share memory, what they fill, and which sizes only say how often they do the same.
"""

from __future__ import annotations

import pytest
import sympy

from relax_lint.model.kernels import BufferParameter, Kernel
from relax_lint.model.prim_funcs import read_kernel
from tests.model.test_kernel_facts import read
from tests.model.test_kernel_parameters import written

KERNELS = """\
# without an end: x 4; y 4 | differs - - - whole
k = T.alloc_buffer((1,), "int32")
k[0] = 0
while k[0] < 1:
    y[0] = T.float32(1)
for i in range(4):
    y[i] = x[i]
# while it counts: x 4; y 4 | differs yes no yes whole
k = T.alloc_buffer((1,), "int32")
k[0] = 0
while k[0] < 4:
    y[3 - k[0]] = x[k[0]]
    k[0] = k[0] + 1
# a truth that an argument holds: x 4; y 4; b 4 as bool | differs - - -
for i in range(4):
    if b[i]:
        y[i] = x[3 - i]
# divided by more than it is: x 8 as int32; y 8 as int32 | differs yes yes yes whole
for i in range(8):
    y[i] = T.truncdiv(x[7 - i], 100)
# divides more: x 8 as int32; y 8 as int32 | differs yes yes yes whole
for i in range(8):
    y[i] = T.truncdiv(100000, x[7 - i])
# exchanged: x 3; y 3 | differs yes no no whole
s = T.alloc_buffer((1,), "float32")
s[0] = x[0]
y[0] = x[1]
y[1] = s[0]
y[2] = T.pow(x[0], x[1])
# a square of eight bits: x 8 as int8; y 8 as int8 | differs yes yes yes whole
for i in range(8):
    y[i] = x[7 - i] * x[7 - i]
# more than eight bits: x 4; y 4 | differs - - -
for i in range(5):
    if i == 4:
        break
    y[T.Cast("int32", T.Cast("int8", i + 125)) - 125] = x[i]
# not more than eight bits: x 4; y 4 | differs no yes no whole
for i in range(5):
    if i == 4:
        break
    y[T.Cast("int32", T.Cast("int8", i + 124)) - 124] = x[i]
# returns in a loop: x 4; y 4 | differs no no no
for i in range(4):
    if i == 2:
        return 0
    y[i] = x[i]
for i in range(4):
    y[i] = x[i]
# returns at the end: x 4; y 4 | differs no yes no whole
for i in range(4):
    y[i] = x[i]
    if i == 3:
        return 0
# otherwise: x 4; y 4 | differs yes no no whole
for i in range(5):
    if i == 4:
        break
    if i % 2 == 0:
        y[i] = x[3 - i]
    else:
        y[i] = x[i - 1]
# in blocks: x 4; y 4 | differs yes no yes whole
for i in range(8):
    with T.sblock("b"):
        v = T.axis.spatial(8, i)
        T.where(i < 4)
        s = T.alloc_buffer((4,), "float32")
        u = T.alloc_buffer((4,), "float32")
        if v == 3:
            T.evaluate(0)
        s[v] = x[3 - v]
        u[v] = s[v]
        y[v] = u[v]
# in blocks that are left early: x 4; y 4 | differs yes no yes whole
for i in range(8):
    with T.sblock("b"):
        v = T.axis.spatial(8, i)
        T.where(i * 2 % 16 < 8)
        y[v % 4] = x[3 - v % 4]
# in blocks, not all: x 4; y 4 | differs yes no no
for i in range(8):
    with T.sblock("b"):
        v = T.axis.spatial(8, i)
        T.where(i * 2 % 16 < 6)
        y[v % 4] = x[3 - v % 4]
# two axes are reduced: x 4; y 1 | differs yes yes no whole
for i in range(2):
    for j in range(2):
        with T.sblock("b"):
            r = T.axis.reduce(2, i)
            q = T.axis.reduce(2, j)
            with T.init():
                y[0] = T.float32(0)
            y[0] = y[0] + x[r * 2 + q]
# two axes are reduced, from the last: x 4; y 1 | differs yes yes no whole
for i in range(2):
    for j in range(2):
        with T.sblock("b"):
            r = T.axis.reduce(2, i)
            q = T.axis.reduce(2, j)
            with T.init():
                y[0] = T.float32(0)
            y[0] = y[0] + x[3 - r * 2 - q]
# a large buffer: x 4; y 4 | differs - - -
s = T.alloc_buffer((30000,), "float32")
for i in range(5):
    if i == 4:
        break
    y[i] = x[3 - i]
# a smaller buffer: x 4; y 4 | differs yes no yes whole
s = T.alloc_buffer((20000,), "float32")
for i in range(5):
    if i == 4:
        break
    y[i] = x[3 - i]
# nothing is done: x 4; y 4 | differs yes no yes whole
for i in range(5):
    if i == 4:
        break
    T.evaluate(0)
    y[i] = x[3 - i]
# a call is made: x 4; y 4 | differs - - -
for i in range(5):
    if i == 4:
        break
    T.evaluate(T.call_extern("int32", "g", 1))
    y[i] = x[3 - i]
# a number of nobody: x 4; y 4; k scalar | differs yes no yes whole
for i in range(4):
    y[i] = x[3 - i]
# a number that decides: x 4; y 4; k scalar | differs - - -
for i in range(4):
    if i < k:
        y[i] = x[3 - i]
# the first half: x 4; y 4 | differs no yes no
for i in range(2):
    y[i] = x[i + 2]
# from the end: x n; y n | differs yes no no whole
for i in range(n):
    y[i] = x[n - 1 - i]
# slices: x n, 4; y n, 4 | differs yes yes yes whole repeats n
for i in range(n):
    for j in range(4):
        y[i, j] = x[i, 3 - j]
# two counts: x n, m, 4; y n, m, 4 | differs yes yes yes whole repeats m n
for i in range(n):
    for l in range(m):
        for j in range(4):
            y[i, l, j] = x[i, l, 3 - j]
# behind: x 4, n; y 4, n | differs yes yes yes whole repeats n
for i in range(n):
    for j in range(4):
        y[j, i] = x[3 - j, i]
# in the middle: x 2, n, 4; y 2, n, 4 | differs yes yes yes whole
for i in range(n):
    for k, j in T.grid(2, 4):
        y[k, i, j] = x[k, i, 3 - j]
# twice one: x n, n; y n, n | differs yes yes no whole
for i in range(n):
    for j in range(n):
        y[i, j] = x[j, i]
# alone: x n; y n | differs no no no whole repeats n
for i in range(n):
    y[i] = x[i] * T.float32(2)
# twice around: x n, 4; y n, 4 | differs yes yes yes whole
for i in range(n):
    for k in range(n):
        for j in range(4):
            y[i, j] = x[k, 3 - j]
# twice around, one: x n, 4; y n, 4 | differs yes yes yes whole
for i in range(n):
    for k in range(n):
        for j in range(4):
            y[k, j] = x[k, 3 - j]
# from one: x n, 4; y n, 4 | differs yes yes yes whole
for i in T.serial(1, n + 1):
    for j in range(4):
        y[i - 1, j] = x[i - 1, 3 - j]
# from one, as many: x n, 4; y n, 4 | differs - - -
for i in T.serial(1, 1 + n):
    for j in range(4):
        y[i, j] = x[i, 3 - j]
# from a number: x n, 4; y n, 4; k scalar | differs - - -
for i in T.serial(k, k + n):
    for j in range(4):
        y[i, j] = x[i, 3 - j]
# both ways: x n, 4; y n, 4 | differs no yes no whole repeats n
for i in range(n):
    for j in range(4):
        if j < 2:
            y[i, j] = x[i, 3 - j]
        else:
            y[i, j] = x[i, j]
# one way: x n, 4; y n, 4 | differs no no no repeats n
for i in range(n):
    for j in range(4):
        if j < 2:
            y[i, j] = x[i, 3 - j]
# the number of the slice decides: x n, 4; y n, 4 | differs yes yes yes
for i in range(n):
    for j in range(4):
        if i < 2:
            y[i, j] = x[i, 3 - j]
# the way there looks at the slice: x n, 4; y n, 4 | differs no no no
for i in range(n):
    for j in range(4):
        if j < 2:
            y[i, j] = x[i, 3 - j] + T.Cast("float32", i)
# the other way looks at the slice: x n, 4; y n, 4 | differs no no no whole
for i in range(n):
    for j in range(4):
        if j < 2:
            y[i, j] = x[i, 3 - j]
        else:
            y[i, j] = T.Cast("float32", i)
# of a window: x n, 4; y n, 4 | differs - - - whole
for i in range(n):
    with T.sblock("b"):
        v = T.axis.spatial(n, i)
        w = T.match_buffer(x[v, 0:4], (4,), "float32", strides=[1], offset_factor=1)
        for j in range(4):
            y[v, j] = w[3 - j]
# blocks: x n, 4; y n, 4 | differs yes yes yes whole repeats n
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            w = T.axis.spatial(4, j)
            y[v, w] = x[v, 3 - w]
# blocks where the slice allows it: x n, 4; y n, 4 | differs yes yes yes
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            w = T.axis.spatial(4, j)
            T.where(i < 2)
            y[v, w] = x[v, 3 - w]
# blocks where the element allows it: x n, 4; y n, 4 | differs no no no repeats n
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            w = T.axis.spatial(4, j)
            T.where(j < 2)
            y[v, w] = x[v, 3 - w]
# blocks of other extents: x n, 4; y n, 4 | differs yes yes yes whole
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n + 1, i)
            w = T.axis.spatial(4, j)
            y[v, w] = x[v, 3 - w]
# blocks that reduce the slices: x n, 4; y n, 4 | differs yes yes yes whole
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.reduce(n, i)
            w = T.axis.spatial(4, j)
            y[v, w] = x[v, 3 - w]
# blocks with buffers of slices: x n, 4; y n, 4 | differs yes yes yes whole repeats n
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            w = T.axis.spatial(4, j)
            s = T.alloc_buffer((n, 4), "float32")
            u = T.alloc_buffer((n, 4), "float32")
            s[v, w] = x[v, 3 - w]
            u[v, w] = s[v, w]
            y[v, w] = u[v, w]
# blocks with a buffer for all slices: x n, 4; y n, 4 | differs yes yes yes whole
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            w = T.axis.spatial(4, j)
            s = T.alloc_buffer((n, 4), "float32")
            u = T.alloc_buffer((4,), "float32")
            s[v, w] = x[v, 3 - w]
            y[v, w] = s[v, w]
# a buffer for all slices: x n, 4; y n, 4 | differs no yes no whole
s = T.alloc_buffer((4,), "float32")
for i in range(n):
    for j in range(4):
        s[j] = x[i, 3 - j]
    for j in range(4):
        y[i, j] = s[j]
# slices of two counts, exchanged: x n, m; y n, m | differs - - - whole
for i in range(n):
    for j in range(m):
        y[i, j] = x[j, i]
# a weight for all slices: x n, 4; y n, 4; w 4 | differs yes yes yes whole repeats n
for i in range(n):
    for j in range(4):
        y[i, j] = x[i, 3 - j] * w[j]
# a weight of slices in the middle: x n, 4; y n, 4; w 2, n, 4 | differs yes yes yes whole
for i in range(n):
    for j in range(4):
        y[i, j] = x[i, 3 - j] * w[1, i, j]
# a function of two: x n, 4; y n, 4 | differs yes yes yes whole repeats n
for i in range(n):
    for j in range(4):
        y[i, j] = T.pow(x[i, 3 - j], x[i, j])
# a function of the slice: x n, 4; y n, 4 | differs yes yes yes whole
for i in range(n):
    for j in range(4):
        y[i, j] = T.pow(x[i, 3 - j], T.Cast("float32", i))
# bound to the slice: x n, 4; y n, 4 | differs yes yes yes whole
for i in range(n):
    for j in range(4):
        v: T.let = i
        y[v, j] = x[v, 3 - j]
# a handle: x n, 4; y n, 4; h handle | differs yes yes yes whole repeats n
for i in range(n):
    for j in range(4):
        y[i, j] = x[i, 3 - j]
# parallel slices: x n, 4; y n, 4 | differs - - - whole
for i in T.parallel(n):
    for j in range(4):
        y[i, j] = x[i, 3 - j]
# every second slice: x n, 4; y n, 4 | differs yes no yes
for i in T.serial(0, n, step=2):
    for j in range(4):
        y[i, j] = x[i, 3 - j]
"""
"""Above each body its name, its parameters, and what is said of it."""

SIZES = {"n": 2, "m": 3}
WORDS = {True: "yes", False: "no", None: "-"}


def said_of(kernel: Kernel) -> str:
    """Whether it differs with `y` at the start of `x`, three elements behind and two before it, whether all of `y` is
    written, and which sizes only repeat.
    """
    assert kernel.differs is not None
    shapes = [one.shape for one in kernel.parameters if isinstance(one, BufferParameter)]
    symbols = {symbol for shape in shapes for extent in shape for symbol in extent.free_symbols}  # type: ignore[union-attr]
    values = {symbol: SIZES[str(symbol)] for symbol in symbols}
    words = ["differs", *(WORDS[kernel.differs(values, 1, 0, distance)] for distance in (0, 3, -2))]
    if kernel.whole_writes.get(1) == sympy.true:
        words.append("whole")
    repeated = kernel.repeated(1, 0)
    return " ".join([*words, *(["repeats", *sorted(map(str, repeated))] if repeated else ())])


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_a_kernel(row: tuple[str, str, str, str]) -> None:
    _, parameters, words, body = row
    assert said_of(read_kernel("f", written(parameters, body))) == words


def test_only_tensors_share_memory() -> None:
    body = "for i in range(n):\n    for j in range(4):\n        y[i, j] = x[i, 3 - j]"
    kernel = read_kernel("f", written("x n, 4; y n, 4; k scalar; h handle", body))
    (symbol,) = kernel.repeated(1, 0)
    assert kernel.differs is not None
    assert kernel.differs({symbol: 2}, 1, 0, 0) is True
    for other in (2, 3):
        assert kernel.differs({symbol: 2}, 1, other, 0) is None
        assert kernel.differs({symbol: 2}, other, 0, 0) is None
        assert kernel.repeated(1, other) == kernel.repeated(other, 0) == frozenset()
