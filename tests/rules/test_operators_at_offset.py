"""Operators that become kernels, and calls that TVM leaves out: RLX303, with the VM."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
T4 = 'R.Tensor((4,), "float32")'
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        with T.sblock("copy"):
            v = T.axis.spatial(4, i)
            y[v] = x[v]

@T.prim_func(private=True, s_tir=True)
def at_zero(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("copy"):
            v = T.axis.spatial(4, i)
            y[v] = x[v]

@R.function(private=True, pure=False)
def of_parameter(p: {T4}) -> {T4}:
    u = R.add(p, p)
    return u

@R.function(pure=False)
def main(x: {T4}, c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(START), R.shape([4]), R.dtype("float32"))
    w = Module.copy(x, t)
    p = R.call_packed("vm.builtin.make_tuple", x, t, ty_args=R.Tuple({T4}, {T4}))
    LINES
    return RESULT
"""


def _module(lines: str, result: str, start: int) -> Any:
    text = TEXT.replace("LINES", lines)
    return parse(text.replace("RESULT", result).replace("START", str(start)))


def _said(module: Any, name: str = "u") -> set[Verdict]:
    return {check.verdict for check in checks(module, "RLX303") if check.binding == name}


def _runs(module: Any, *, folded: bool) -> bool:
    """Whether the VM takes it; `folded`: by TVM's pipeline for a target, which folds constants."""
    target = tvm.target.Target("llvm")
    pipeline = relax.get_default_pipeline(target) if folded else "default"
    machine = relax.VirtualMachine(relax.build(module, target, relax_pipeline=pipeline), tvm.cpu())
    try:
        machine["main"](tvm.runtime.tensor(np.ones(4, "float32")), tvm.runtime.tensor(np.array(True)))
    except ValueError as error:
        return "expected 0" not in str(error)
    return True


@pytest.mark.vm
@pytest.mark.parametrize(
    "lines",
    [
        "u = R.add(t, t)",
        "u = R.add(x, t)",
        "u = R.sort(t)",
        "u = R.concat((x, t))",
        "u = R.concat(p)",
        "u = R.expand_dims(t, 0)",
        'u = R.where(R.const([True, False, True, True], "bool"), x, t)',
    ],
)
def test_the_kernel_of_an_operator_accepts_no_offset(lines: str) -> None:
    apart = _module(lines, "u", 16)
    assert _said(apart) == {WRONG}
    assert not _runs(apart, folded=False)
    assert not _runs(apart, folded=True)
    at_zero = _module(lines, "u", 0)
    assert _said(at_zero) == set()
    assert _runs(at_zero, folded=False)


@pytest.mark.vm
@pytest.mark.parametrize(
    "lines",
    [
        # The shape alone, or another tensor.
        "u = R.zeros_like(t)",
        "u = R.add(x, x)",
        "u = R.concat((x, x))",
        "q = p[0]\nu = R.add(q, q)",
        "q = R.memory.ensure_zero_offset(t)\nu = R.add(q, q)",
        'u = R.call_packed("vm.builtin.reshape", t, R.shape([2, 2]), ty_args=R.Tensor((2, 2), "float32"))',
        "with R.dataflow():\n    a = R.reshape(t, R.shape([2, 2]))\n    u = R.zeros_like(a)\n    R.output(u)",
    ],
)
def test_what_no_kernel_is_given_may_start_anywhere(lines: str) -> None:
    module = _module(lines.replace("\n", "\n    "), "u", 16)
    assert _said(module) <= {FINE}
    assert _runs(module, folded=False)
    assert _runs(module, folded=True)


@pytest.mark.vm
def test_in_a_block_a_view_is_made_instead() -> None:
    lines = "with R.dataflow():\n    a = R.expand_dims(t, 0)\n    R.output(a)\nu = a".replace("\n", "\n    ")
    outside = _module(lines, "u", 16)
    assert _said(outside, "a") == {WRONG}
    assert not _runs(outside, folded=True)
    inside = "with R.dataflow():\n    a = R.expand_dims(t, 0)\n    u = R.zeros_like(a)\n    R.output(u)"
    module = _module(inside.replace("\n", "\n    "), "u", 16)
    assert _said(module, "a") == {UNSURE}


@pytest.mark.vm
def test_outside_of_a_block_a_reshape_is_a_kernel() -> None:
    apart = _module("u = R.reshape(t, R.shape([2, 2]))", "u", 16)
    assert _said(apart) == {UNSURE}
    assert not _runs(apart, folded=False)
    assert not _runs(apart, folded=True)
    at_zero = _module("u = R.reshape(t, R.shape([2, 2]))", "u", 0)
    assert _said(at_zero) == set()
    assert _runs(at_zero, folded=False)


@pytest.mark.vm
@pytest.mark.parametrize("lines", ["u = R.add(t, t)", f"u = R.call_tir(Module.at_zero, (t,), {T4})"])
def test_what_nothing_uses_may_be_left_out(lines: str) -> None:
    unused = _module(lines, "x", 16)
    assert _said(unused) == {UNSURE}
    assert (_runs(unused, folded=False), _runs(unused, folded=True)) == (False, True)
    for more in (
        f"{lines}\n    z = R.add(u, x)",
        f"if c:\n        {lines}\n        z = u\n    else:\n        z = x",
    ):
        unused = _module(more, "x", 16)
        assert UNSURE in {check.verdict for check in checks(unused, "RLX303")}
        assert WRONG not in {check.verdict for check in checks(unused, "RLX303")}
        assert _runs(unused, folded=True)
    used = _module(f"{lines}\n    z = Module.copy(u, x)", "x", 16)
    assert _said(used) == {WRONG}
    assert not _runs(used, folded=True)


def test_what_a_function_inside_uses_is_not_left_out() -> None:
    lines = f"""u = R.add(t, t)
    @R.function(pure=False)
    def inner(a: {T4}) -> {T4}:
        k = Module.copy(u, a)
        return a
    z = inner(x)"""
    assert _said(_module(lines, "x", 16)) == {WRONG}
    assert _said(_module(lines.replace("(u, a)", "(x, a)"), "x", 16)) == {UNSURE}


@pytest.mark.vm
def test_the_offset_of_a_parameter_is_that_of_its_only_caller() -> None:
    module = _module("r = Module.of_parameter(t)", "r", 16)
    assert _said(module) == {WRONG}
    assert not _runs(module, folded=False)
    assert _said(_module("r = Module.of_parameter(t)", "r", 0)) <= {FINE}
