"""A function of the module that writes on the memory of its own argument: fine where it has read all of it before, as
the functions that `RewriteCUDAGraph` makes do. The machine agrees on what they return.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR
from tests.rules.test_handed_over import FINE, UNSURE, worst

READ_BEFORE = """def over(a: T4, b: T4, s: R.Any):
    w = Module.double(a, b)
    t = TENSOR(s)
    w2 = Module.double(b, t)
    r = R.call_tir(Module.add, (b, t), T4)
    return r
"""
READ_IN_THE_WRITE = """def over(a: T4, b: T4, s: R.Any):
    t = TENSOR(s)
    w2 = Module.add(a, b, t)
    r = R.call_tir(Module.add, (b, t), T4)
    return r
"""
READ_BEHIND = """def over(a: T4, b: T4, s: R.Any):
    t = TENSOR(s)
    w2 = Module.double(b, t)
    r = R.call_tir(Module.add, (a, t), T4)
    return r
"""
READ_UNDER_ANOTHER_NAME = """def over(a: T4, b: T4, s: R.Any):
    v = R.reshape(a, R.shape([2, 2]))
    t = TENSOR(s)
    w2 = Module.double(b, t)
    v4 = R.reshape(v, R.shape([4]))
    r = R.call_tir(Module.add, (v4, t), T4)
    return r
"""
RETURNED = """def over(a: T4, b: T4, s: R.Any):
    w = Module.double(a, b)
    t = TENSOR(s)
    w2 = Module.double(b, t)
    return a
"""
HANDED_ON = """def over(a: T4, b: T4, s: R.Any):
    k = R.call_packed("keep", a, ty_args=(R.Any,))
    w = Module.double(a, b)
    t = TENSOR(s)
    w2 = Module.double(b, t)
    r = R.call_tir(Module.add, (b, t), T4)
    return r
"""
IN_A_BRANCH = """def over(a: T4, b: T4, s: R.Any, k: R.Tensor((), "bool")):
    t = TENSOR(s)
    w2 = Module.double(b, t)
    if k:
        r = R.call_tir(Module.add, (a, t), T4)
    else:
        r = R.call_tir(Module.add, (b, t), T4)
    return r
"""
MAIN = """    s = STORAGE
    q = STORAGE
    a = TENSOR(s)
    b = TENSOR(q)
    w = Module.double(x, a)
    w2 = Module.double(y, b)
    r = Module.over({})
    return r
"""


@pytest.mark.parametrize(
    ("callee", "verdict"),
    [
        (READ_BEFORE, FINE),
        (READ_IN_THE_WRITE, UNSURE),
        (READ_BEHIND, UNSURE),
        (READ_UNDER_ANOTHER_NAME, UNSURE),
        (RETURNED, UNSURE),
        (HANDED_ON, UNSURE),
    ],
)
def test_the_order_of_a_callee(callee: str, verdict: Verdict) -> None:
    assert worst("RLX206", callee, MAIN.format("a, b, s")) is verdict


def test_a_read_behind_the_write_in_a_branch() -> None:
    assert worst("RLX206", IN_A_BRANCH, MAIN.format("a, b, s, c")) is UNSURE


OUTER = """
@R.function(pure=False, private=True)
def over(a: T4, b: T4, s: R.Any):
    r = Module.inner(a, b, s)
    {} = R.call_tir(Module.add, ({}, r), T4)
    return {}
"""


@pytest.mark.parametrize("read", ["a", "b"])
def test_what_a_callee_calls_counts_as_one_operation(read: str) -> None:
    inner = READ_BEFORE.replace("def over", "def inner")
    assert worst("RLX206", inner + OUTER.format("o", read, "o"), MAIN.format("a, b, s")) is UNSURE


@pytest.mark.parametrize(("callee", "is_right"), [(READ_BEFORE, True), (READ_BEHIND, False)])
def test_the_machine_agrees(callee: str, is_right: bool) -> None:
    body = f"{KERNELS}\n@R.function(pure=False, private=True)\n{callee}\n@R.function(pure=False)\n"
    body += f'def main(x: {T4}, y: {T4}, c: R.Tensor((), "bool")):\n{MAIN.format("a, b, s")}'
    body = body.replace("T4", T4).replace("STORAGE", STORAGE)
    for storage in ("s", "q"):
        body = body.replace(f"TENSOR({storage})", TENSOR.format(storage))
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    module = tvm.script.from_source(f"@I.ir_module\nclass Module:\n{indented}\n")
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    x, y = np.arange(4, dtype="float32"), np.ones(4, "float32")
    given = [tvm.runtime.tensor(value) for value in (x, y, np.array(True))]
    a, b = 2 * x, 2 * y
    right = 3 * (2 * a) if callee is READ_BEFORE else a + 2 * b
    assert np.allclose(machine["main"](*given).numpy(), right) == is_right
