"""What a kernel of 32-bit arithmetic is said to write, where that arithmetic may wrap around."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import Any

import numpy as np
import pytest
import sympy
import tvm

from relax_lint.model.kernels import Kernel
from relax_lint.model.prim_funcs import read_kernel

HEAD = """\
@T.prim_func
def f(a: T.handle, b: T.handle, c: T.handle):
    k = {dtype}()
    n = {dtype}()
    x = T.match_buffer(a, ({shape},), "float32")
    z = T.match_buffer(c, (k,), "float32")
    y = T.match_buffer(b, ({shape},), "float32")
"""
FUSED = "for i in range({many} * k):\n    y[i // k] = x[i // k]"
GUARDED = """
for i, j in T.grid({many}, k):
    if i * k + j < {many} * k:
        y[(i * k + j) // k] = x[i]
"""
SHIFTED = "for i in range(40000):\n    if T.shift_left(i, 16) >= 0:\n        y[i] = x[i]"


def function(body: str, shape: str = "40000", dtype: str = "T.int32") -> Any:
    head = HEAD.format(dtype=dtype, shape=shape)
    return tvm.script.from_source(head + indent(dedent(body).strip("\n"), "    "))


def kernel(body: str, shape: str = "40000", dtype: str = "T.int32") -> Kernel:
    return read_kernel("f", function(body, shape, dtype))


@pytest.mark.parametrize("body", [FUSED, GUARDED])
def test_a_product_that_may_wrap_is_no_number_of_steps(body: str) -> None:
    assert kernel(body.format(many="40000")).whole_writes[1] == sympy.false
    wide = kernel(body.format(many="T.int64(40000)"), "T.int64(40000)", "T.int64")
    assert wide.whole_writes[1] == sympy.Ge(sympy.Symbol("k", integer=True), 1)


@pytest.mark.parametrize("body", [FUSED, GUARDED])
def test_the_compiled_kernel_leaves_elements_unwritten(body: str) -> None:
    module = tvm.IRModule({"f": function(body.format(many="40000")).with_attr("global_symbol", "f")})
    compiled = tvm.compile(module, target="llvm")
    for extent, whole in ((2, True), (65536, False)):
        arrays = [np.ones(40000, "float32"), np.zeros(40000, "float32"), np.zeros(extent, "float32")]
        given = [tvm.runtime.tensor(array) for array in arrays]
        compiled["f"](*given)
        assert bool(np.all(given[1].numpy() == 1)) is whole


@pytest.mark.parametrize(
    "body",
    [
        SHIFTED,
        SHIFTED.replace("T.shift_left(i, 16)", "i * 65536"),
        "for i in range(40000):\n    y[i * k // k] = x[i]",
    ],
)
def test_a_guard_or_an_index_that_may_wrap_decides_nothing(body: str) -> None:
    assert kernel(body).whole_writes[1] == sympy.false


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ("for i in range(n):\n    y[i] = x[i]", "n"),
        ("for i, j in T.grid(n, k):\n    y[i * k + j] = x[i * k + j]", "n * k"),
        ("for i in range(n * k):\n    y[i] = x[i]", "n * k"),
        (
            "for i, j in T.grid((n + 127) // 128, 128):\n    if i * 128 + j < n:\n        y[i * 128 + j] = x[0]",
            "n",
        ),
        ("for i in range(4, n + 4):\n    y[i - 4] = x[i - 4]", "n"),
        ("for i, j in T.grid(n, 4):\n    y[i * 4 + j] = x[i * 4 + (3 - j)]", "n * 4"),
        ("for i in range(n):\n    y[n - 1 - i] = x[i]", "n"),
    ],
)
def test_what_wraps_in_tensors_of_two_billion_elements_only_is_exact(body: str, shape: str) -> None:
    found = kernel(body, shape).whole_writes[1]
    symbols = dict.fromkeys(found.free_symbols, 6)
    assert found.subs(symbols) == sympy.true


@pytest.mark.parametrize("sign", ["==", "!="])
def test_a_guard_that_may_wrap_does_not_tell_of_a_race(sign: str) -> None:
    body = f"for i in T.parallel(16):\n    if k * 65536 {sign} 0:\n        y[0] = x[i]"
    assert kernel(body).inside.races == ()
    wide = kernel(body.replace("65536", "T.int64(65536)"), dtype="T.int64").inside.races
    assert [race.element for race in wide] == ["y[0]"]
