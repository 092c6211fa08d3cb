"""Indices that 32 bits do not hold, in steps of loops that are known: nobody knows which element is meant, so RLX306 is not
certain. What the VM makes of them, and twins that fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

STEPS = "for k in range(1073741824, 1073741825):"
NAMED = "for j in range(1):\n            k: T.let[T.int32] = {}"
KERNEL = """
@T.prim_func(private=True, s_tir=True)
def take(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "{result}")):
    for i in range(8):
        {steps}
            y[i] = {read}

@R.function
def main(x: R.Tensor((8,), "float32")):
    y = R.call_tir(Module.take, (x,), R.Tensor((8,), "{result}"))
    return y
"""
CASES = {
    "a loop": (STEPS, "k * 4"),
    "the least of a loop": (STEPS, "T.min(k * 4, 9)"),
    "a name": (NAMED.format("1073741824"), "k * 4"),
    "the least of a name": (NAMED.format("1073741824"), "T.min(k * 4, 9)"),
    "a shift": (STEPS, "T.shift_left(k, 2)"),
    "a sum behind the end": (STEPS, "T.max(k + k + k + k, -9)"),
}
FITS = {
    "a loop, that fits": (STEPS, "k // 100"),
    "the least of a loop, that fits": (STEPS, "T.min(k, 9)"),
    "a name, that fits": (NAMED.format("536870911"), "k * 4"),
    "the least of a name, that fits": (NAMED.format("536870911"), "T.min(k * 4, 9)"),
    "in other steps": ("for k in range(1):", "T.min(i * 1073741824, 7) + 8"),
}
NOT_COMPILED = {"a shift"}
"""TVM does not compile a constant that 32 bits do not hold."""


def _module(case: tuple[str, str], *, shows: bool) -> Any:
    """Takes elements of `x`, or shows which it would take."""
    steps, index = case
    result, read = ("int64", f'T.Cast("int64", {index})') if shows else ("float32", f"x[{index}]")
    return parse(KERNEL.format(steps=steps, read=read, result=result))


def _said(case: tuple[str, str]) -> list[str]:
    return [found.verdict.value for found in checks(_module(case, shows=False), "RLX306")]


@pytest.mark.parametrize("form", CASES)
def test_what_may_be_another_index_is_not_certain(form: str) -> None:
    assert _said(CASES[form]) == ["needs-runtime-check"]


@pytest.mark.parametrize("form", FITS)
def test_what_fits_is(form: str) -> None:
    assert _said(FITS[form]) == ["always-wrong"]


@pytest.mark.vm
@pytest.mark.parametrize("form", sorted({*CASES, *FITS} - NOT_COMPILED))
def test_what_runs_take(form: str) -> None:
    machine = relax.VirtualMachine(
        tvm.compile(_module({**CASES, **FITS}[form], shows=True), "llvm"), tvm.cpu()
    )
    taken = machine["main"](tvm.runtime.tensor(np.zeros(8, "float32"))).numpy()
    assert taken.tolist() == [0] * 8 if form in CASES else bool((taken > 7).any())
