"""What a kernel reads for nothing harms nobody: of what was overwritten, superseded or never written, RLX203, RLX206 and
RLX205 are not certain, also where the kernel writes the same tensor. Each with the VM, and a twin that takes what it reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

READS = {
    "a name": ("named: T.let = t[v]\n            y[v] = x[v] + T.float32(1)", "x[v] +", "named +"),
    "an own buffer": (
        'own = T.alloc_buffer((1,), "float32")\n            own[0] = t[v]\n            y[v] = x[v] + T.float32(1)',
        "x[v] +",
        "own[0] +",
    ),
    "an own element that is stored anew": (
        'own = T.alloc_buffer((1,), "float32")\n            own[0] = t[v]\n            own[0] = x[v]\n'
        "            y[v] = own[0] + T.float32(1)",
        "own[0] = x[v]",
        "own[0] = own[0] + x[v]",
    ),
    "an element that is stored anew": (
        "y[v] = t[v]\n            y[v] = x[v] + T.float32(1)",
        "x[v] +",
        "y[v] +",
    ),
}
"""What a kernel does, and what to put in the place of what so that it takes what it reads."""
KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel(x: T.Buffer((4,), "float32"), t: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(4, i)
            BODY
"""
USES = {
    "RLX203": f"""s = {STORAGE}
    t = {TENSOR.format("s")}
    k1 = Module.double(x, t)
    u = {TENSOR.format("s")}
    k2 = Module.double(u0, u)
    k3 = Module.kernel(x, t, y)
    k4 = Module.add(u, u, u0)
    return y""",
    "RLX205": f"s = {STORAGE}\n    t = {TENSOR.format('s')}\n    k3 = Module.kernel(x, t, y)\n    return y",
    "RLX206": "t = R.call_tir(Module.double, (x,), T4)\n"
    "    w = R.call_tir_inplace(Module.twice, (t,), inplace_indices=[0], out_ty=T4)\n"
    "    k3 = Module.kernel(x, t, y)\n    k4 = Module.add(w, w, u0)\n    return y",
}


def _module(code: str, body: str) -> Any:
    main = f"\n@R.function(pure=False)\ndef main(x: T4, u0: T4, y: T4):\n    {USES[code]}\n"
    return parse((KERNELS + KERNEL.replace("BODY", body) + main).replace("T4", T4))


def _said(module: Any, code: str) -> set[str]:
    return {check.verdict.value for check in checks(module, code)} - {"always-fine"}


@pytest.mark.vm
@pytest.mark.parametrize("code", USES)
@pytest.mark.parametrize("form", READS)
def test_what_nothing_takes_does_no_certain_harm(form: str, code: str) -> None:
    body, part, taken = READS[form]
    unused = _module(code, body)
    assert _said(unused, code) == {"needs-runtime-check"}
    assert _said(_module(code, body.replace(part, taken)), code) == {"always-wrong"}
    machine = relax.VirtualMachine(tvm.compile(unused, "llvm"), tvm.cpu())
    given = np.arange(4, dtype="float32"), np.full(4, 70, "float32"), np.zeros(4, "float32")
    assert machine["main"](*map(tvm.runtime.tensor, given)).numpy().tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("form", READS)
def test_the_same_of_what_the_kernel_writes(form: str) -> None:
    body, part, taken = READS[form]
    own = KERNEL.replace("BODY", body.replace("y[v]", "t[v]"))
    main = f"""
@R.function(pure=False)
def main(x: {T4}, y: {T4}):
    s = {STORAGE}
    t = {TENSOR.format("s")}
    k3 = Module.kernel(x, t, y)
    return t
"""
    assert _said(parse(own + main), "RLX205") == {"needs-runtime-check"}
    assert _said(parse(own.replace(part, taken.replace("y[v]", "t[v]")) + main), "RLX205") == {"always-wrong"}
