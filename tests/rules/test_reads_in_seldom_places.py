"""RLX205 where a kernel looks at a tensor elsewhere than in the elements that it computes: the machine does,
too.
"""

from __future__ import annotations

from textwrap import indent

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

PLACES = {
    "the step of a loop": "for i in T.serial(0, 4, step=p[0]):\n    y[i] = x[i]",
    "the steps of a thread": "t = T.launch_thread('blockIdx.x', p[0])\ny[t] = x[t]",
    "where a region begins": "with T.sblock('b'):\n"
    "    g = T.match_buffer(y[p[0] : p[0] + 2], (2,), 'float32', offset_factor=1)\n    g[0] = x[0]",
    "where a buffer begins": "w = T.decl_buffer((2,), 'float32', data=y.data, elem_offset=p[0])\nw[0] = x[0]",
    "how far elements are apart": "w = T.decl_buffer((2,), 'float32', data=y.data, strides=[p[0]])\nw[1] = x[0]",
    "how large a buffer is": "s = T.alloc_buffer((p[0],), 'float32')\ns[0] = x[0]\ny[0] = s[0]",
    "how large a buffer of a block is": "with T.sblock('b'):\n"
    "    s = T.sblock_alloc_buffer((p[0],), 'float32')\n    s[0] = x[0]\n    y[0] = s[0]",
}
HEAD = """
@T.prim_func(private=True, s_tir=True)
def ones(p: T.Buffer((4,), "int32")):
    for i in range(4):
        p[i] = 1

@T.prim_func(private=True, s_tir=True)
def kernel(p: T.Buffer((4,), "int32"), x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
"""
CALLED = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    p = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("int32"))
    {before}
    w = Module.kernel(p, x, y)
    return y
"""
GIVEN = """
@R.function(pure=False)
def main(p: R.Tensor((4,), "int32"), x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    w = Module.kernel(p, x, y)
    return y
"""


def _kernel(place: str) -> str:
    return HEAD + indent(PLACES[place], "    ") + "\n"


@pytest.mark.parametrize("place", PLACES)
def test_what_nobody_wrote_is_told(place: str) -> None:
    def said(before: str) -> set[str]:
        module = parse(_kernel(place) + CALLED.format(before=before))
        return {check.verdict.value for check in checks(module, "RLX205")} - {"always-fine"}

    assert said("v = x")
    assert not said("v = Module.ones(p)")


@pytest.mark.vm
@pytest.mark.parametrize("place", [place for place in PLACES if place.startswith(("where", "how far"))])
def test_the_machine_looks_at_it(place: str) -> None:
    module = parse(_kernel(place) + GIVEN)
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())

    def run(number: int) -> list[float]:
        p, x = np.full(4, number, "int32"), np.ones(4, "float32")
        given = map(tvm.runtime.tensor, (p, x, np.zeros(4, "float32")))
        return list(machine["main"](*given).numpy())

    assert run(1) != run(2)
