"""What is a field of a tuple inside of a tuple is in the register of the value that was put there: RLX201, with the VM."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import findings, parse

T4 = 'R.Tensor((4,), "float32")'
PAIR = f"R.Tuple({T4}, {T4})"
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = x[i]

@R.function(pure=False)
def main(x: {T4}, p: {PAIR}):
    p0 = p[0]
    p1 = p[1]
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w = Module.copy(x, t)
    LINES
    k = R.memory.kill_tensor(KILLED)
    z = R.call_tir(Module.copy, (USED,), out_ty={T4})
    return z
"""
IN_A_TUPLE = "r = (x, (t, x))\n    a = r[1]\n    b = a[0]"
IN_TWO = "r = ((x, (t,)), x)\n    a = r[0]\n    c = a[1]\n    b = c[0]"
NAMED = "q = (x, t)\n    r = (q, x)\n    u = r\n    a = u[0]\n    d = a\n    b = d[1]"
CAST = f"r = (x, (t, x))\n    u = R.match_cast(r, R.Tuple({T4}, {PAIR}))\n    a = u[1]\n    b = a[0]"
TOGETHER = "q = (p0, p1)\n    r = (x, q)\n    a = r[1]\n    b = a[0]"


def _module(lines: str, killed: str, used: str) -> Any:
    return parse(TEXT.replace("LINES", lines).replace("KILLED", killed).replace("USED", used))


@pytest.mark.vm
@pytest.mark.parametrize(
    ("lines", "killed", "used", "is_wrong"),
    [
        (IN_A_TUPLE, "t", "b", True),
        (IN_A_TUPLE, "b", "t", True),
        (IN_A_TUPLE.replace("a[0]", "a[1]"), "t", "b", False),
        (IN_TWO, "t", "b", True),
        (IN_TWO.replace("(t,)", "(x,)"), "t", "b", False),
        (NAMED, "b", "t", True),
        (CAST, "t", "b", True),
        # TVM takes the parameter for what is put together of all of its fields: a field is one of its own.
        (TOGETHER, "p0", "b", False),
        (TOGETHER.replace("(p0, p1)", "(p0, x)"), "p0", "b", True),
        ("r = (x, (p0, p1))\n    a = r[1]\n    b = a[0]", "p0", "b", True),
    ],
)
def test_a_kill_by_one_name_clears_the_field(lines: str, killed: str, used: str, is_wrong: bool) -> None:
    module = _module(lines, killed, used)
    assert [check.verdict.value for check in findings(module, "RLX201")] == ["always-wrong"] * is_wrong
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    one = tvm.runtime.tensor(np.arange(4, dtype="float32"))
    if is_wrong:
        with pytest.raises(TypeError, match="expected Tensor"):
            machine["main"](one, [one, one])
    else:
        assert machine["main"](one, [one, one]).numpy().tolist() == [0, 1, 2, 3]
