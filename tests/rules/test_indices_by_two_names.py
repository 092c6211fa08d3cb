"""Indices that are written by another name of their memory, which the function does not show to be one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.facts.kernel_access_verdicts import Status
from relax_lint.judging.module import ModuleJudge
from relax_lint.settings.config import Config
from tests.rules.checking import parse

ONE, TENSOR = 'T.Buffer((8,), "int32", offset_factor=1)', 'R.Tensor((8,), "int32")'
KERNELS = f"""
@T.prim_func(private=True, s_tir=True)
def fill(q: {ONE}):
    for i in range(8):
        q[i] = i

@T.prim_func(private=True, s_tir=True)
def ones(q: {ONE}):
    for i in range(8):
        q[i] = 1

@T.prim_func(private=True, s_tir=True)
def hundreds(q: {ONE}):
    for i in range(8):
        q[i] = i + 100

@T.prim_func(private=True, s_tir=True)
def less(p: {ONE}, q: {ONE}):
    for i in range(8):
        q[i] = T.max(p[i] - 1, -9)

@T.prim_func(private=True, s_tir=True)
def copy(p: {ONE}, q: {ONE}):
    for i in range(8):
        q[i] = p[i]

@T.prim_func(private=True, s_tir=True)
def gather(x: T.Buffer((8,), "float32"), w: {ONE}, y: T.Buffer((8,), "float32")):
    for i in range(8):
        y[i] = x[w[i]]
"""
MAIN = """
@R.function(pure=False)
def main(x: R.Tensor((8,), "float32"), o: {tensor}, r: {tensor}):
{lines}
    return y
"""
GATHERED = 'y = R.call_tir(Module.gather, (x, i), R.Tensor((8,), "float32"))'
COPIED = f"y = R.call_tir(Module.copy, (i,), {TENSOR})"
NEW = f"i = R.call_tir(Module.fill, (), {TENSOR})"
CONSTANT = 'i = R.const([0, 1, 2, 3, 4, 5, 6, 7], "int32")'
RETURNED = f'v = R.call_pure_packed("relax_lint.tests.same", i, ty_args={TENSOR})'
HANDED_ON = '_ = R.call_packed("relax_lint.tests.fill_with_100", v, ty_args=R.Tuple())'
TWO_PARAMETERS = f"""
@R.function(private=True, pure=False)
def both(x: R.Tensor((8,), "float32"), a: {TENSOR}, b: {TENSOR}):
    i = R.call_tir_inplace(Module.fill, (a,), [0], {TENSOR})
    k = R.call_tir_inplace(Module.hundreds, (b,), [0], {TENSOR})
    {{}}
    return y
"""


def in_place(name: str, tensor: str) -> str:
    """A kernel that overwrites a tensor."""
    return f"k_{tensor} = R.call_tir_inplace(Module.{name}, ({tensor},), [0], {TENSOR})"


def on_one_storage(offset: int) -> tuple[str, ...]:
    """Indices that are computed from others, which begin so many bytes before them."""
    return (
        's = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")',
        f's_i = R.memory.alloc_tensor(s, {offset}, R.shape([8]), "int32")',
        's_j = R.memory.alloc_tensor(s, 0, R.shape([8]), "int32")',
        "_1 = Module.ones(s_j)",
        "_2 = Module.less(s_j, s_i)",
        "i = s_i",
    )


def module_of(*lines: str, extra: str = "") -> Any:
    """A module with these lines in its function."""
    body = "\n".join(f"    {line}" for line in lines)
    return parse(KERNELS + MAIN.format(lines=body, tensor=TENSOR) + extra)


def said(module: Any) -> list[Status]:
    """What is said of the rows that `gather` takes; nothing where it is proved."""
    return [
        found.status
        for function in ModuleJudge(module, Config(select=("RLX306",))).functions()
        for use in function.facts.kernels.uses
        if use.kernel.name == "gather"
        for found in function.facts.indices.verdict(use).open
        if found.status is not Status.PROVED
    ]


CHANGED = {
    "another parameter": (in_place("fill", "o"), in_place("hundreds", "r"), "i = k_o"),
    "a constant that a packed function returns": (CONSTANT, RETURNED, in_place("hundreds", "v")),
    "what a packed function returns, handed on": (NEW, RETURNED, HANDED_ON),
    "a constant, handed on": (CONSTANT, RETURNED, HANDED_ON),
    "overwritten while it is read": on_one_storage(16),
}
KEPT = {
    "only one parameter": (in_place("fill", "o"), "i = k_o"),
    "returned and not written": (NEW, RETURNED),
    "a constant, only returned": (CONSTANT, RETURNED),
    "another tensor, handed on": (NEW, in_place("hundreds", "o"), "v = o", HANDED_ON),
    "two tensors on one storage": on_one_storage(32),
}


@pytest.mark.parametrize("how", CHANGED)
def test_what_another_name_may_have_changed_is_assumed(how: str) -> None:
    assert said(module_of(*CHANGED[how], GATHERED)) == [Status.ASSUMED]


@pytest.mark.parametrize("how", KEPT)
def test_what_no_other_name_changes_is_proved(how: str) -> None:
    assert said(module_of(*KEPT[how], GATHERED)) == []


def test_two_parameters_of_a_private_function_may_be_one() -> None:
    module = module_of(NEW, "y = Module.both(x, i, i)", extra=TWO_PARAMETERS.format(GATHERED))
    assert said(module) == [Status.ASSUMED]


def _fill_with_100(tensor: Any) -> None:
    tensor.copyfrom(np.full(8, 100, "int32"))


@pytest.mark.vm
@pytest.mark.parametrize("how", [*CHANGED, *KEPT])
def test_what_a_run_says(how: str) -> None:
    tvm.register_global_func("relax_lint.tests.same", lambda tensor: tensor, override=True)
    tvm.register_global_func("relax_lint.tests.fill_with_100", _fill_with_100, override=True)
    module = module_of(*{**CHANGED, **KEPT}[how], COPIED)
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    twice = tvm.runtime.tensor(np.zeros(8, "int32"))
    found = machine["main"](tvm.runtime.tensor(np.zeros(8, "float32")), twice, twice).numpy()
    assert bool(((found >= 0) & (found < 8)).all()) is (how in KEPT)
