"""Kernels that read what they write: unless they are certain to write first, the result may hold anything."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

KERNEL = """
@T.prim_func(private=True, s_tir=True)
def total(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i, j in T.grid(n, n):
        with T.sblock("sum"):
            vi = T.axis.spatial(n, i)
            vj = T.axis.reduce((0, n), {step})
            T.where({where})
            with T.init():
                y[vi] = T.float32(0)
            y[vi] = y[vi] + x[{index}]
"""

CALLED = """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    y = R.call_tir(Module.total, (x,), R.Tensor((n,), "float32"))
    return y
"""

PLANNED = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    y = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w = Module.total(x, y)
    return y
"""


@pytest.mark.parametrize("caller", [CALLED, PLANNED])
@pytest.mark.parametrize(
    ("step", "where", "index", "proved"),
    [
        ("j", "i >= 0", "vj", True),
        ("j + 1", "i >= 0", "vj - 1", False),
        ("j", "j > 0", "vj", False),
        ("n - 1 - j", "i >= 0", "vj", False),
    ],
)
def test_a_reduction_that_may_not_be_initialised_first(
    caller: str, step: str, where: str, index: str, proved: bool
) -> None:
    text = KERNEL.format(step=step, where=where, index=index) + caller
    said = checks(parse(text), "RLX205")
    notes = [check for check in said if "nothing proves the order" in check.message]
    assert len(notes) == (not proved)
    assert all(check.verdict.value == "needs-runtime-check" for check in notes)
    x = np.arange(4, dtype="float32")
    vm = relax.VirtualMachine(tvm.compile(parse(text), "llvm"), tvm.cpu())
    right = np.full(4, x.sum())
    # What was never initialised is what the memory held: once in a while what is right.
    found = [vm["main"](tvm.runtime.tensor(x)).numpy() for _ in range(3)]
    assert not proved or all((one == right).all() for one in found)


COUNTS = """
@T.prim_func(private=True)
def count(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        {guard}y[i] = y[i] + T.float32(1)

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    y = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w = Module.count(x, y)
    return y
"""


@pytest.mark.parametrize(
    ("guard", "verdict"),
    [("", "always-wrong"), ("if x[i] > T.float32(0):\n            ", "needs-runtime-check")],
)
def test_what_is_read_behind_a_condition_is_read_perhaps(guard: str, verdict: str) -> None:
    """With an `x` of zeros the kernel that has a condition touches nothing."""
    said = checks(parse(COUNTS.format(guard=guard)), "RLX205")
    assert {check.verdict.value for check in said if check.binding == "w"} == {verdict}


def test_a_scan_reads_what_it_has_written() -> None:
    text = """
@T.prim_func(private=True)
def scan(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    y[0] = x[0]
    for i in range(3):
        y[i + 1] = y[i] + x[i + 1]

@R.function
def main(x: R.Tensor((4,), "float32")):
    y = R.call_tir(Module.scan, (x,), R.Tensor((4,), "float32"))
    return y
"""
    assert {check.verdict.value for check in checks(parse(text), "RLX205")} <= {"always-fine"}
