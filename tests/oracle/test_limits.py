"""What is read for sure at sizes beyond the constants of a kernel, against runs of it at each size."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import tvm

from relax_lint.model.prim_funcs import read_kernel
from tests.oracle.kernels import limits
from tests.oracle.kernels.bodies import Body, Do, Inside
from tests.oracle.kernels.compare import Unusable, kernel_of
from tests.oracle.kernels.reads import compare_more_reads, compare_reads

_SIZES = [(n, 1) for n in (*range(1, 16), 20, 27, 31, 41)]


def _loop(head: str, *lines: str) -> Inside:
    return Inside(f"for {head}:", tuple(map(Do, lines)))


_COPY = _loop("i in range(n)", "y[i] = x[i]")
_ONES = _loop("i in range(n)", "y[i] = T.float32(1)")
_TAKEN = Inside("if x[0] > T.float32(0):", (Do("break"),))

BEYOND = {
    "the last elements are stored anew from 27 on": (
        _loop("i in range(n)", "y[i] = T.if_then_else(i + 7 < n, T.float32(1), x[i])"),
        _loop("i in range(T.max(n - 20, 0))", "y[i + 20] = T.float32(2)"),
    ),
    "all is stored anew from 12 on": (_COPY, Inside("if n >= 12:", (_ONES,))),
    "all is stored anew at one size": (_COPY, Inside("if n == 11:", (_ONES,))),
    "a product of sizes decides": (_COPY, Inside("if n * n > 600:", (_ONES,))),
    "the least of two decides": (_COPY, Inside("if T.min(n, 12) == 12:", (_ONES,))),
    "a remainder decides": (_COPY, Inside("if n % 13 == 7:", (_ONES,))),
    "an extent that is zero at most sizes": (
        _COPY,
        _loop("i in range(n // 10)", "y[0] = T.float32(1)"),
        _loop("i in range(n - 1)", "y[i + 1] = T.float32(1)"),
    ),
    "steps that come to each element at some sizes": (
        _COPY,
        _loop("i in range(n)", "y[(i * 6) % n] = T.float32(2)"),
    ),
    "two elements that are one at one size": (
        _ONES,
        Do("y[0] = x[n - 1] - x[T.min(9, n - 1)]"),
    ),
    "a way out leaves out a store that nobody reads": (
        _ONES,
        Inside("for i in range(n):", (_TAKEN, Do("s[0] = T.float32(2)"))),
        Do("s[0] = s[0]"),
    ),
    "a way out behind which the rest is stored anew": (
        _COPY,
        Inside("for i in range(n):", (Do("y[i] = T.float32(2)"), Do("continue"))),
    ),
}

SURE = {
    "a copy": (_COPY,),
    "a copy backwards": (_loop("i in range(n)", "y[n - 1 - i] = x[i]"),),
    "its first elements": (_loop("i in range(n)", "y[i] = T.if_then_else(i < 9, x[i], T.float32(1))"),),
    "stored anew but for one": (_COPY, _loop("i in range(n - 1)", "y[i] = T.float32(1)")),
    "moved in a circle": (_loop("i in range(n)", "y[i] = x[(i + 7) % n]"),),
    "a way out leaves out what is stored": (
        _ONES,
        Inside("for i in range(n):", (_TAKEN, Do("y[i] = T.float32(2)"))),
    ),
    "through an own number": (
        Do("s[0] = T.float32(1)"),
        Inside("for i in range(n):", (_TAKEN, Do("s[0] = T.float32(2)"))),
        _loop("i in range(n)", "y[i] = s[0]"),
    ),
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_said_to_be_read_matters_at_every_size(name: str) -> None:
    compare_reads(Body("n", "n", BEYOND[name]), _SIZES)


@pytest.mark.parametrize("name", SURE)
def test_what_matters_at_every_size_is_read_for_sure(name: str) -> None:
    body = Body("n", "n", SURE[name])
    _, kernel = kernel_of(body)
    assert 0 not in kernel.unsure_reads
    compare_reads(body, _SIZES)


@pytest.mark.parametrize(("condition", "beyond"), [("n < 9", 9), ("n <= 12", 13)])
def test_a_size_up_to_which_it_is_read_is_told(condition: str, beyond: int) -> None:
    body = Body("n", "n", (_ONES, Inside(f"if {condition}:", (Do("y[0] = x[0]"),))))
    _, kernel = kernel_of(body)
    when = kernel.read_if[0]
    (n,) = when.free_symbols
    found = [when.subs(n, size) for size in range(1, 20)]
    assert found == [sympy.true if size < beyond else sympy.false for size in range(1, 20)]
    compare_reads(body, _SIZES)


def test_random_bodies() -> None:
    """What is said of them is so; `python -m tests.oracle.kernels` goes on with this."""
    said = 0
    for body in limits.some(8, 1):
        try:
            said += compare_more_reads(body)["read for sure"]
        except Unusable:
            continue
    assert said


@pytest.mark.parametrize(
    ("number", "used", "sure"),
    [
        ("T.Cast('int32', T.Cast('int8', i)) == 200", False, False),
        ("T.Cast('int32', T.Cast('uint8', i) + T.uint8(100)) == 300", False, False),
        ("T.Cast('int32', T.Cast('int16', i)) == 200", True, True),
        ("i == 200", True, True),
    ],
)
def test_a_number_that_its_type_does_not_hold_decides_nothing(number: str, used: bool, sure: bool) -> None:
    text = f"""\
@T.prim_func
def f(x: T.Buffer((256,), "float32"), y: T.Buffer((256,), "float32")):
    T.func_attr({{"global_symbol": "f"}})
    for i in range(256):
        y[i] = T.float32(1)
    for i in range(256):
        if {number}:
            y[0] = x[0]
"""
    function = tvm.script.from_source(text)
    assert (0 not in read_kernel("f", function).unsure_reads) is sure
    x, y = (tvm.runtime.tensor(np.full(256, value, "float32")) for value in (7, 0))
    tvm.compile(function, target="llvm")["f"](x, y)
    assert bool(y.numpy()[0] == 7) is used
