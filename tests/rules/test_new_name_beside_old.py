"""RLX206 where a call has the old and the new name of what an in-place call overwrote: which one it returns decides."""

from __future__ import annotations

from typing import Any

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
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def twice(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] * T.float32(2)

@R.function(pure=False, private=True)
def first(p: {T4}, q: {T4}) -> {T4}:
    return p

@R.function(pure=False, private=True)
def second(p: {T4}, q: {T4}) -> {T4}:
    return q

@R.function(pure=False)
def main(x: {T4}) -> {T4}:
    old = R.call_tir(Module.copy, (x,), out_ty={T4})
    new = R.call_tir_inplace(Module.twice, (old,), inplace_indices=[0], out_ty={T4})
    used = R.call_packed("vm.builtin.make_tuple", new, ty_args=R.Tuple)
    LINES
    return v
"""
CAPTURED = f"""@R.function(pure=False)
    def inner(p: {T4}) -> {T4}:
        return new
    v = inner(old)"""
HELD = f"""g = R.make_closure(Module.second, (new,))
    v = R.invoke_closure(g, (old,), ty_args={T4})"""


def _module(lines: str) -> Any:
    return parse(TEXT.replace("LINES", lines))


def _verdict(module: Any) -> Verdict:
    found = [one.verdict for one in checks(module, "RLX206") if one.verdict is not Verdict.ALWAYS_FINE]
    assert len(found) <= 1
    return found[0] if found else Verdict.ALWAYS_FINE


def _returned(module: Any) -> list[float]:
    target = tvm.target.Target("llvm")
    lifted = relax.transform.LambdaLift()(module)
    machine = relax.VirtualMachine(relax.build(lifted, target, relax_pipeline="default"), tvm.cpu())
    numbers: list[float] = machine["main"](tvm.runtime.tensor(np.ones(4, "float32"))).numpy().tolist()
    return numbers


@pytest.mark.vm
@pytest.mark.parametrize(
    "lines", ["v = Module.second(old, new)", "v = Module.first(new, old)", CAPTURED, HELD]
)
def test_what_may_be_the_new_name_is_not_always_wrong(lines: str) -> None:
    """It is: the numbers are those that were made in place."""
    module = _module(lines)
    assert _verdict(module) is not WRONG
    assert _returned(module) == [2.0] * 4


@pytest.mark.vm
@pytest.mark.parametrize(
    ("lines", "verdict"),
    [("v = Module.first(old, old)", WRONG), ("v = old", WRONG), ("v = Module.first(old, x)", WRONG)],
)
def test_the_old_name_alone_is(lines: str, verdict: Verdict) -> None:
    """The name is that of ones, and what is returned are twos."""
    module = _module(lines)
    assert _verdict(module) is verdict
    assert _returned(module) == [2.0] * 4
