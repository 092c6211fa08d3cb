"""Kernels with a condition leave their memory outside of it, as the guard allocator sees it.

`python -m tests.oracle.tir.guarded` does the same with random kernels for as long as it is told to.
"""

from __future__ import annotations

import pytest
import tvm

from relax_lint.replay import Machine
from tests.guarded import guarded_machine
from tests.oracle.tir.guarded import compare_function

machine = pytest.fixture(guarded_machine)
HEAD = """\
@T.prim_func(s_tir=True)
def f(x_: T.handle, y_: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    y = T.match_buffer(y_, (m,), "float32")
"""
BODIES = {
    "a longer loop": "for i in range(n):\n    y[i] = x[i]",
    "a guard of another index": "for i in range(n):\n    if i < m:\n        y[i + 1] = x[i]",
    "tiles": "for i, j in T.grid((n + 3) // 4, 4):\n    y[i * 4 + j] = T.float32(1)",
    "a step before the first": "for i in range(m):\n    y[i - n + 2] = T.float32(1)",
    "two axes": "for i, j in T.grid(n, 2):\n    y[i * 2 + j] = x[i]",
}


@pytest.mark.vm
@pytest.mark.parametrize("body", BODIES)
def test_outside_of_its_condition_a_kernel_leaves_its_memory(body: str, machine: Machine) -> None:
    text = HEAD + "".join(f"    {line}\n" for line in BODIES[body].splitlines())
    seen = compare_function(tvm.script.from_source(text), machine)
    assert seen["outside, and seen"]
    assert seen["inside, and nothing seen"]
    assert seen.keys() <= {"kernels", "outside, and seen", "inside, and nothing seen"}
