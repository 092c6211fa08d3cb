"""What an in-place call does not write of its argument is in its result as well: where an earlier in-place call has
overwritten that, the result holds something else than it is meant to; with what the VM returns.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, T4

HALF = """
@T.prim_func(private=True, s_tir=True)
def half(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i] = x[i] * T.float32(2)
"""
MAIN = f"""
@R.function(pure=False)
def main(x: {T4}) -> {T4}:
    a = R.call_tir(Module.double, (x,), out_ty={T4})
    b = R.call_tir_inplace(Module.twice, (a,), inplace_indices=[0], out_ty={T4})
    c = R.call_tir_inplace(Module.CALL, out_ty={T4})
    o = R.call_tir(Module.double, (READ,), out_ty={T4})
    return o
"""
CALLS = {
    "half": "half, (x, ARGUMENT), inplace_indices=[1]",
    "double": "double, (x, ARGUMENT), inplace_indices=[1]",
    "twice": "twice, (ARGUMENT,), inplace_indices=[0]",
}
X = np.arange(1, 5, dtype="float32")


@pytest.mark.parametrize("kernel", CALLS)
@pytest.mark.parametrize("argument", ["a", "b"])
@pytest.mark.parametrize("read", ["a", "b", "c"])
def test_whatever_is_not_as_it_is_meant_is_told(kernel: str, argument: str, read: str) -> None:
    call = CALLS[kernel].replace("ARGUMENT", argument)
    text = KERNELS + HALF + MAIN.replace("CALL", call).replace("READ", read)
    values = {"a": 2 * X, "b": 4 * X}
    given = values[argument]
    values["c"] = {"half": np.concatenate([2 * X[:2], given[2:]]), "double": 2 * X, "twice": 2 * given}[
        kernel
    ]
    built = tvm.compile(parse(text), target="llvm", relax_pipeline="default")
    returned = relax.VirtualMachine(built, tvm.cpu())["main"](tvm.runtime.tensor(X)).numpy()
    is_meant = list(returned) == list(2 * values[read])
    told = [one for one in checks(parse(text), "RLX20") if one.severity.value != "none"]
    if not is_meant:
        assert told
    elif read == "c":
        # Of the others it is the same by chance only.
        assert told == []
    assert all(one.verdict.value != "always-wrong" for one in told if is_meant)
