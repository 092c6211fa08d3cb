"""Whether all of a tensor is written may depend on the type of an argument. Where only a call declares that type, the
verdict lists it as an assumption: the VM returns what nobody wrote where it is false.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

KERNELS = """
@T.prim_func(private=True, s_tir=True)
def first(x_: T.handle, y: T.Buffer((4,), "float32")):
    n = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    for i in range(T.min(n, 4)):
        y[i] = x[i]
"""
MAIN = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")) -> R.Tensor((4,), "float32"):
    n = T.int64()
    R.assert_op(n >= 4, [n], format="n")
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    LINES
    c = R.add(b, b)
    return c
"""
ALLOC = 'b = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))'
DECLARED = 'a = R.call_packed("tests.some", x, ty_args=R.Tensor((n,), "float32"))'
CHECKED = """a0 = R.call_packed("tests.some", x, ty_args=R.Tensor(ndim=1, dtype="float32"))
a = R.match_cast(a0, R.Tensor((n,), "float32"))"""
FILLED = {
    "an operator": 'b = R.topk(a, k=4, ret_type="values")',
    "a kernel that gets its result": f"{ALLOC}\nk = Module.first(a, b)",
    "a kernel that allocates": 'b = R.call_tir(Module.first, (a,), out_ty=R.Tensor((4,), "float32"))',
}
ASSUMED = "the type of `a` (declared by the call of `tests.some`, not checked)"


def _module(lines: str) -> Any:
    return parse(KERNELS + MAIN.replace("LINES", lines.replace("\n", "\n    ")))


def _said(lines: str) -> Check:
    (found,) = (check for check in checks(_module(lines), "RLX205") if check.binding == "c")
    return found


def _run(lines: str, elements: int) -> list[float]:
    def some(one: Any) -> Any:
        return tvm.runtime.tensor(np.full(elements, 3, "float32"))

    tvm.register_global_func("tests.some", some, override=True)
    machine = relax.VirtualMachine(relax.build(_module(lines), "llvm", relax_pipeline="default"), tvm.cpu())
    return list(machine["main"](tvm.runtime.tensor(np.ones(4, "float32"))).numpy())


@pytest.mark.vm
@pytest.mark.parametrize("name", FILLED)
def test_the_type_is_assumed_where_nobody_checks_it(name: str) -> None:
    found = _said(f"{DECLARED}\n{FILLED[name]}")
    assert (found.verdict, found.assumes) == (Verdict.ALWAYS_FINE, (ASSUMED,))
    assert _run(f"{DECLARED}\n{FILLED[name]}", 4) == [6.0] * 4
    # It holds what was there.
    assert _run(f"{DECLARED}\n{FILLED[name]}", 2)[:2] == [6.0] * 2


@pytest.mark.vm
@pytest.mark.parametrize("name", FILLED)
def test_nothing_is_assumed_where_somebody_checks_it(name: str) -> None:
    found = _said(f"{CHECKED}\n{FILLED[name]}")
    assert (found.verdict, found.assumes) == (Verdict.ALWAYS_FINE, ())
    with pytest.raises(RuntimeError, match="match_cast"):
        _run(f"{CHECKED}\n{FILLED[name]}", 2)


def test_what_is_filled_whatever_the_type_assumes_nothing() -> None:
    assert _said(f"{DECLARED}\n{ALLOC}\nk = Module.first(x, b)").assumes == ()
