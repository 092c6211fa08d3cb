"""RLX203, RLX205 and RLX206 where a kernel writes all of a tensor unless one of its loops has no step: whether the
shapes of the call say that it has one, with what runs return.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

KERNELS = """
@T.prim_func(private=True, s_tir=True)
def double(xh: T.handle):
    n = T.int64()
    x = T.match_buffer(xh, (n,), "float32")
    for i in range(n):
        x[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def copy(xh: T.handle, yh: T.handle):
    n = T.int64()
    x = T.match_buffer(xh, (n,), "float32")
    y = T.match_buffer(yh, (n,), "float32")
    for i in range(n):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def fill(xh: T.handle, yh: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(xh, (m,), "float32")
    y = T.match_buffer(yh, (n,), "float32")
    for j in range(m):
        for i in range(n):
            y[i] = x[j]
"""
MAIN = """
@R.function(pure=False)
def main(
    x: R.Tensor(("n",), "float32"),
    four: R.Tensor((4,), "float32"),
    some: R.Tensor(("m",), "float32"),
    more: R.Tensor(("k",), "float32"),
    c: R.Tensor((), "bool"),
) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    cls = Module
    s = R.memory.alloc_storage(R.shape([4 * n]), 0, "global", "uint8")
    t = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
    u = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
    a = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((n,), "float32"))
{lines}
    r = R.call_tir(cls.copy, ({read},), out_ty=R.Tensor((n,), "float32"))
    return r
"""
IN_PLACE = 'w = R.call_tir_inplace(cls.double, (a,), inplace_indices=[0], out_ty=R.Tensor((n,), "float32"))'
BEFORE = {
    # What is read, what is written again, and what happens before.
    "RLX205": ("t", "t", ()),
    "RLX206": ("a", "w", (IN_PLACE,)),
    "RLX203": ("t", "t", ("cls.copy(x, t)", "cls.copy(x, u)")),
}
IF = "if c:\n        {}\n        h = x\n    else:\n        {}\n        h = x"
AGAIN = {
    "fill(four, O)": True,
    "fill(x, O)": True,
    "fill(some, O)": False,
    "fill(some, O); fill(x, O)": True,
    "fill(some, O); fill(more, O)": False,
    "fill(four, O) | fill(x, O)": True,
    "fill(x, O) | fill(x, O)": True,
    "fill(x, O) | fill(some, O)": False,
    "fill(some, O) | fill(some, O)": False,
    "fill(some, O) | fill(four, O)": False,
}
FINE, UNSURE = "always-fine", "needs-runtime-check"


def _module(rule: str, again: str) -> Any:
    read, over, before = BEFORE[rule]
    calls = [f"cls.{call.strip()}".replace("O", over) for call in again.replace("|", ";").split(";")]
    if "|" in again:
        calls = [IF.format(f"e1 = {calls[0]}", f"e2 = {calls[1]}")]
    lines = "\n".join(f"    {line}" for line in (*before, *calls))
    return parse(KERNELS + MAIN.replace("{lines}", lines).replace("{read}", read))


@pytest.mark.parametrize("rule", BEFORE)
@pytest.mark.parametrize("again", AGAIN)
def test_what_is_written_again_is_what_the_shapes_say(again: str, rule: str) -> None:
    found = checks(_module(rule, again), rule)
    told = [check.verdict.value for check in found if f"`{BEFORE[rule][0]}`" in check.message]
    assert (UNSURE in told) is not AGAIN[again]
    assert "always-wrong" not in told


@pytest.mark.vm
@pytest.mark.parametrize("again", AGAIN)
def test_what_runs_return(again: str) -> None:
    """What was overwritten in place is read where nothing was written again, which is what is not sure."""
    machine = relax.VirtualMachine(tvm.compile(_module("RLX206", again), "llvm"), tvm.cpu())
    seen = set()
    for n, m, k, c in product((1, 3), (0, 2), (0, 2), (False, True)):
        sizes = (("x", n, 1), ("four", 4, 10), ("some", m, 20), ("more", k, 30))
        given = [np.full(size, value, "float32") for _, size, value in sizes]
        result = machine["main"](*map(tvm.runtime.tensor, (*given, np.array(c)))).numpy()
        assert len(set(result)) == 1
        seen.add(float(result[0]))
    # A tensor of ones that was doubled.
    assert (2.0 in seen) is not AGAIN[again]
