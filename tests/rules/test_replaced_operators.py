"""Operators that a pass replaces by their argument, and those that always make something new."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

T4 = 'R.Tensor((4,), "float32")'
PROGRAM = f"""
@T.prim_func(private=True, s_tir=True)
def double(x: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("double"):
            v = T.axis.spatial(4, i)
            x[v] = x[v] * T.float32(2)

@R.function(pure=False)
def main(x: {T4}):
    a = R.add(x, x)
    b = VALUE
    w = R.call_tir_inplace(Module.double, (b,), [0], {T4})
    return (w, a)
"""
DEVICES = 'I.module_global_infos({"vdevice": [I.vdevice("llvm")]})\n'


def module(value: str, head: str = "") -> Any:
    """A module that overwrites what an operator gives back, and returns its argument."""
    return parse(head + PROGRAM.replace("VALUE", value.replace("T4", T4)))


def verdicts(one: Any) -> list[Verdict]:
    """What RLX206 says."""
    return [check.verdict for check in checks(one, "RLX206")]


def second(one: Any) -> list[float]:
    """What the argument of the operator holds at the end."""
    executable = tvm.compile(one, "llvm")
    machine = relax.VirtualMachine(executable, tvm.cpu())
    return list(machine["main"](tvm.runtime.tensor(np.ones(4, "float32")))[1].numpy())


@pytest.mark.vm
def test_a_hint_where_the_tensor_is_already() -> None:
    one = module('R.hint_on_device(a, R.device(1, 0), "global")', DEVICES)
    assert verdicts(one) == [Verdict.NEEDS_RUNTIME_CHECK]
    realized = relax.transform.RealizeVDevice()(one)
    assert second(realized) == [4.0] * 4


def test_what_is_not_to_be_lifted() -> None:
    assert verdicts(module("R.builtin.stop_lift_params(a)")) == [Verdict.ALWAYS_WRONG]


@pytest.mark.vm
@pytest.mark.parametrize(
    ("value", "head"),
    [
        ('R.to_vdevice(a, "llvm:0")', DEVICES),
        ('R.call_packed("vm.builtin.to_device", a, 1, 0, "global", ty_args=T4)', ""),
    ],
)
def test_a_copy_to_the_device_where_it_is(value: str, head: str) -> None:
    one = module(value, head)
    assert set(verdicts(one)) <= {Verdict.ALWAYS_FINE}
    assert second(one) == [2.0] * 4
