"""RLX206 on a kernel that is given one tensor twice, in a module of which another kernel promises that its arguments
lie apart: TVM tells LLVM so of all kernels if the one whose name comes last promises it. With what runs return.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
T4 = 'R.Tensor((4,), "float32")'
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def add_turned(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] + y[3 - i] * T.float32(3)

@T.prim_func(private=True, s_tir=True)
def NAME(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    T.func_attr({{"tirx.noalias": PROMISE}})
    for i in range(4):
        y[i] = x[i]

@R.function(pure=False)
def main(x: {T4}) -> {T4}:
    y = R.call_tir(Module.NAME, (x,), {T4})
    z = R.call_tir_inplace(Module.add_turned, (y, y), [0], {T4})
    w = LAST
    return w
"""
ALONE = "z"
APART, SHARED = [13, 11, 9, 7], [13, 11, 36, 43]


@pytest.mark.vm
@pytest.mark.parametrize(
    ("name", "promise", "last", "verdict", "returned"),
    [
        ("copy", False, ALONE, WRONG, SHARED),
        ("zcopy", False, ALONE, WRONG, SHARED),
        ("zcopy", True, ALONE, UNSURE, APART),
        # The other kernel does not come last, which a renamed kernel may change.
        ("a_copy", True, ALONE, UNSURE, SHARED),
        # The kernel that the operator becomes promises it.
        ("copy", False, "R.subtract(z, R.const(0.0))", UNSURE, APART),
    ],
)
def test_a_promise_of_another_kernel_may_count(
    name: str, promise: bool, last: str, verdict: Verdict, returned: list[float]
) -> None:
    module = parse(TEXT.replace("NAME", name).replace("PROMISE", str(promise)).replace("LAST", last))
    (found,) = [check for check in checks(module, "RLX206") if check.verdict is not Verdict.ALWAYS_FINE]
    assert found.verdict is verdict
    assert ("tirx.noalias" in found.proof) is (verdict is UNSURE)
    # What LLVM makes of a promise it makes only where it is to make the code fast.
    built = relax.build(module, tvm.target.Target({"kind": "llvm", "opt-level": 3}))
    machine = relax.VirtualMachine(built, tvm.cpu())
    assert list(machine["main"](tvm.runtime.tensor(np.arange(1, 5, dtype="float32"))).numpy()) == returned
