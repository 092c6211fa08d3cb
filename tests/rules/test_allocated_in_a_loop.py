"""A buffer that a loop allocates holds nothing of the step before."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

from relax_lint.model.prim_funcs import read_kernel

KERNEL = """
@T.prim_func(s_tir=True)
def f(q: T.Buffer((8,), "int32"), r: T.Buffer((8,), "int32"), p: T.Buffer((512,), "int32")):
    T.func_attr({{"global_symbol": "f"}})
{outside}
    for i in range(8):
{inside}
        if i == 0:
            for k in range(512):
                s[k] = 3
        q[i] = s[i]
{later}
        for k in range(512):
            u[k] = p[k] + 100
        r[i] = u[p[i]]
"""
S, U = (f'{name} = T.alloc_buffer((512,), "int32")' for name in "su")
WHERE = {
    "outside": KERNEL.format(outside=f"    {S}\n    {U}", inside="", later=""),
    "inside": KERNEL.format(outside="", inside=f"        {S}", later=f"        {U}"),
}


@pytest.mark.parametrize(("where", "known"), [("outside", True), ("inside", False)])
def test_the_first_step_fills_what_all_steps_share(where: str, known: bool) -> None:
    values = read_kernel("f", tvm.script.from_source(WHERE[where])).accesses.values.get(0)
    assert (values is not None and not values.steps) is known


@pytest.mark.vm
@pytest.mark.parametrize(("where", "known"), [("outside", True), ("inside", False)])
def test_what_a_run_reads(where: str, known: bool) -> None:
    compiled = tvm.compile(tvm.IRModule({"f": tvm.script.from_source(WHERE[where])}), "llvm")
    q, r, p = (tvm.runtime.tensor(np.zeros(count, "int32")) for count in (8, 8, 512))
    compiled["f"](q, r, p)
    assert (q.numpy().tolist() == [3] * 8) is known
