"""What a kernel with a size stores and then stores anew: a search at some sizes only takes away from what is read for sure, so
that what is not said to be stored for nothing must be. RLX205 of what the kernel reads is certain where the result differs with it.
"""

from __future__ import annotations

from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (4,), "float32")
    w = T.match_buffer(b, (n,), "float32")
    y = T.match_buffer(c, (4,), "float32")
"""
UNWRITTEN = """
@R.function(pure=False)
def main(w: R.Tensor(("n",), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    x = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    y = R.call_tir(Module.kernel, (x, w), R.Tensor((4,), "float32"))
    return y
"""
GIVEN = """
@R.function
def main(x: R.Tensor((4,), "float32"), w: R.Tensor(("n",), "float32")):
    y = R.call_tir(Module.kernel, (x, w), R.Tensor((4,), "float32"))
    return y
"""
ZEROS = "for i in range(4):\n    y[i] = T.float32(0)\n"
COPY = "for i in range(4):\n    y[i] = x[i]\n"
LANES = 'o = T.alloc_buffer((4,), "float32")\no[0:4] = T.Broadcast(T.float32(0), 4)\n'
"""What the search does not follow, so that all is kept that was said before it."""

USED = {
    "read before it is stored anew": f"{ZEROS}y[0] = x[0]\ny[1] = y[0]\ny[0] = T.float32(2)",
    "stored anew, of another element": f"{ZEROS}y[0] = x[0]\ny[1] = x[1]\ny[0] = T.float32(2)",
    "stored anew but for one": f"{COPY}for j in range(3):\n    y[j] = T.float32(2)",
    "stored anew by two loops but for one": (
        f"{COPY}for j in range(2):\n    y[j] = T.float32(2)\nfor j in range(1):\n    y[j + 2] = T.float32(2)"
    ),
    "stored anew in each step but for one": (
        "for r in range(2):\n    for i in range(4):\n        y[i] = x[i]\n"
        "    for j in range(3):\n        y[j] = T.float32(2)"
    ),
}
UNUSED = {
    "another one is read": f"{ZEROS}y[0] = x[0]\ny[1] = y[2]\ny[0] = T.float32(2)",
    "stored anew by two loops": (
        f"{COPY}for j in range(2):\n    y[j] = T.float32(2)\nfor j in range(2):\n    y[j + 2] = T.float32(2)"
    ),
    "stored anew twice": f"{LANES}{ZEROS}y[0] = x[0]\nfor r in range(2):\n    y[0] = T.float32(2)",
}
IF_EMPTY = {
    "stored anew unless it is empty": f"{LANES}{COPY}for r in range(n):\n    for j in range(4):\n        y[j] = w[r]"
}


def _module(body: str, main: str) -> Any:
    return parse(KERNEL + indent(body, "    ") + "\n" + main)


def _differs(body: str, size: int) -> bool:
    """Whether the result is another one where what is read is."""
    machine = relax.VirtualMachine(tvm.compile(_module(body, GIVEN), "llvm"), tvm.cpu())
    w = tvm.runtime.tensor(np.ones(size, "float32"))
    found = [
        machine["main"](tvm.runtime.tensor(np.full(4, number, "float32")), w).numpy() for number in (3, 4)
    ]
    return not np.array_equal(*found)


@pytest.mark.vm
@pytest.mark.parametrize("form", [*USED, *UNUSED, *IF_EMPTY])
def test_what_decides_the_result_is_read_for_sure(form: str) -> None:
    body = {**USED, **UNUSED, **IF_EMPTY}[form]
    assert [_differs(body, size) for size in (0, 3)] == [form not in UNUSED, form in USED]
    (found,) = checks(_module(body, UNWRITTEN), "RLX205")
    assert found.verdict.value == ("always-wrong" if form in USED else "needs-runtime-check")
