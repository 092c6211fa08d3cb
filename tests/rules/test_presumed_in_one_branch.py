"""RLX206: what overwrites an older name of a tensor in one branch does harm, whatever is presumed of the other one;
and where both are presumed to be other tensors, both assumptions are listed.
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

T4 = 'R.Tensor((4,), "float32")'
TEXT = """
@T.prim_func(private=True, s_tir=True)
def twice(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] * T.float32(2)

@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool")) -> T4:
    a = R.add(x, x)
    p = R.call_packed("tests.ten", a, ty_args=T4)
    q = R.call_packed("tests.hundred", a, ty_args=T4)
    v = R.call_tir_inplace(Module.twice, (a,), inplace_indices=[0], out_ty=T4)
    j = R.call_packed("tests.use", v, ty_args=R.Tuple)
    if c:
        r0 = THEN
        r = r0
    else:
        r0 = ELSE
        r = r0
    z = R.add(r, r)
    return z
"""
MEANT = {"a": 2.0, "p": 20.0, "q": 200.0}
"""What each is meant to hold, for an `x` of ones."""
NEW = {
    "p": "`tests.ten` returns a new tensor, none that it was given or has kept",
    "q": "`tests.hundred` returns a new tensor, none that it was given or has kept",
}


def _module(then: str, otherwise: str) -> Any:
    return parse(TEXT.replace("THEN", then).replace("ELSE", otherwise).replace("T4", T4))


def _said(module: Any) -> Check:
    (found,) = (check for check in checks(module, "RLX206") if check.binding == "v")
    return found


def _run(module: Any, condition: bool) -> float:
    def times(factor: float) -> Any:
        return lambda one: tvm.runtime.tensor(one.numpy() * np.float32(factor))

    for name, function in (("ten", times(10)), ("hundred", times(100)), ("use", lambda one: None)):
        tvm.register_global_func(f"tests.{name}", function, override=True)
    machine = relax.VirtualMachine(relax.build(module, "llvm", relax_pipeline="default"), tvm.cpu())
    given = (tvm.runtime.tensor(np.array(one)) for one in (np.ones(4, "float32"), condition))
    return float(machine["main"](*given).numpy()[0])


@pytest.mark.vm
@pytest.mark.parametrize(("then", "otherwise"), [("a", "p"), ("p", "a"), ("a", "a"), ("p", "q"), ("p", "p")])
def test_one_branch_is_enough(then: str, otherwise: str) -> None:
    module = _module(then, otherwise)
    right = all(_run(module, c) == 2 * MEANT[one] for c, one in ((True, then), (False, otherwise)))
    assert right == ("a" not in (then, otherwise))
    assert (_said(module).verdict is Verdict.ALWAYS_FINE) == right


def test_what_is_presumed_in_either_branch_is_listed() -> None:
    for then, otherwise in (("p", "q"), ("q", "p"), ("p", "p")):
        (listed,) = _said(_module(then, otherwise)).assumes
        assert set(listed.split("; ")) == {NEW[then], NEW[otherwise]}
