"""RLX205: kernels whose steps read what the step before has stored, and whose first step is another one."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
import tvm

from tests.rules.checking import checks, parse

KERNEL = """
@T.prim_func({private})
def {name}(a: T.handle, b: T.handle):
    n = T.int64()
    k = T.int64()
    x = T.match_buffer(a, (n, k), "float32")
    y = T.match_buffer(b, (n, k), "float32")
{body}
"""
MAIN = """
@R.function
def main(x: R.Tensor(("n", "k"), "float32")):
    n = T.int64()
    k = T.int64()
    r = R.call_tir(Module.kernel, (x,), out_ty=R.Tensor((n, k), "float32"))
    return r
"""
BY_CASE = """
for i, j in T.grid(n, k):
    if {first}:
        y[i, j] = x[i, j]
    else:
        y[i, j] = y[i, {before}] + x[i, j]
"""
BACKWARDS = """
for i, j in T.grid(n, k):
    if {first}:
        y[i, k - 1 - j] = x[i, k - 1 - j]
    else:
        y[i, k - 1 - j] = y[i, {before}] + x[i, k - 1 - j]
"""
BY_HEAD = """
for i in range(n):
    if {some}:
        y[i, {head}] = x[i, 0]
    for j in range(k - 1):
        y[i, j + 1] = y[i, j] + x[i, j + 1]
"""
DOWN = """
for i, j in T.grid(n, k):
    if {first}:
        y[i, j] = x[i, j]
    else:
        y[i, j] = y[i - 1, j] + x[i, j]
"""
RIGHT = (
    BY_CASE.format(first="j == 0", before="j - 1"),
    BY_CASE.format(first="j < 1", before="j - 1"),
    BACKWARDS.format(first="j == 0", before="k - j"),
    BY_HEAD.format(some="0 < k", head="0"),
    BY_HEAD.format(some="k > 0", head="0"),
    DOWN.format(first="i == 0"),
    DOWN.format(first="not 0 < i"),
)
WRONG = (
    # Not the first step, not the step before, or no step before it.
    BY_CASE.format(first="j == k - 1", before="T.max(j - 1, 0)"),
    BY_CASE.format(first="j == 0", before="T.min(j + 1, k - 1)"),
    BACKWARDS.format(first="j == 0", before="k - 1 - j"),
    BY_HEAD.format(some="3 < k", head="0"),
    BY_HEAD.format(some="1 < k", head="k - 1"),
    DOWN.format(first="j == 0").replace("y[i - 1, j]", "y[T.max(i - 1, 0), j]"),
)


def _text(kernel: str, private: str, name: str = "kernel") -> str:
    body = "\n".join(f"    {line}" for line in kernel.strip().splitlines())
    return KERNEL.format(private=private, name=name, body=body)


@pytest.mark.parametrize("kernel", RIGHT + WRONG)
def test_the_step_before_has_stored_it(kernel: str) -> None:
    found = checks(parse(_text(kernel, "private=True") + MAIN), "RLX205")
    assert all(one.verdict.value == "always-fine" for one in found) == (kernel in RIGHT)


def test_the_compiled_kernels_show_what_was_there() -> None:
    """A kernel of which all is called fine gives the same, whatever its output held before; no other does."""
    text = "".join(_text(kernel, "", f"kernel{number}") for number, kernel in enumerate(RIGHT + WRONG))
    compiled = tvm.compile(parse(text), target="llvm")
    for number, kernel in enumerate(RIGHT + WRONG):
        same = True
        for shape in ((1, 1), (2, 2), (3, 4), (2, 6)):
            x = np.arange(prod(shape), dtype="float32").reshape(shape)
            results = []
            for before in (7, 70):
                y = tvm.runtime.tensor(np.full(shape, before, "float32"))
                compiled[f"kernel{number}"](tvm.runtime.tensor(x), y)
                results.append(y.numpy())
            same &= bool((results[0] == results[1]).all())
        assert same == (kernel in RIGHT), kernel
