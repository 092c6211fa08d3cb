"""Indices that are handed to private functions: whether these may have changed them, and what runs say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.facts.kernel_access_verdicts import Status
from tests.rules.checking import checks, parse
from tests.rules.test_indices_by_two_names import (
    CONSTANT,
    COPIED,
    GATHERED,
    HANDED_ON,
    MAIN,
    NEW,
    RETURNED,
    TENSOR,
    in_place,
    module_of,
    said,
)
from tests.rules.test_indices_by_two_names import KERNELS as INDEX_KERNELS

CALLEES = f"""
@R.function(private=True, pure=False)
def keeps(a: {TENSOR}) -> {TENSOR}:
    k = R.call_tir(Module.copy, (a,), {TENSOR})
    return k

@R.function(private=True, pure=False)
def hands_on(a: {TENSOR}) -> {TENSOR}:
    _ = R.call_packed("relax_lint.tests.fill_with_100", a, ty_args=R.Tuple())
    k = R.call_tir(Module.copy, (a,), {TENSOR})
    return k

@R.function(private=True, pure=False)
def returns(a: {TENSOR}) -> {TENSOR}:
    return a

@R.function(private=True, pure=False)
def shows(a: {TENSOR}) -> {TENSOR}:
    v = R.call_pure_packed("relax_lint.tests.same", a, ty_args={TENSOR})
    return v

@R.function(private=True, pure=False)
def overwrites(a: {TENSOR}) -> {TENSOR}:
    k = R.call_tir_inplace(Module.hundreds, (a,), [0], {TENSOR})
    return k
"""
CHANGED = {
    "handed on": ("u = Module.hands_on(i)",),
    "kept, then handed on": ("t = Module.keeps(i)", "u = Module.hands_on(i)"),
    "handed on, then kept": ("t = Module.hands_on(i)", "u = Module.keeps(i)"),
    "by a name for the function": ("f = Module.hands_on", "u = f(i)"),
    "returned, then overwritten": ("u = Module.returns(i)", in_place("hundreds", "u")),
    "returned, then handed on": ("v = Module.returns(i)", HANDED_ON),
    "overwritten": ("u = Module.overwrites(i)",),
    "what a packed function in a callee returns": ("u = Module.shows(i)", in_place("hundreds", "u")),
    "the same, overwritten by a callee": ("u = Module.shows(i)", "t = Module.overwrites(u)"),
    "what a packed function returns, overwritten": (RETURNED, "t = Module.overwrites(v)"),
    "what a packed function returns, handed on": (RETURNED, "t = Module.hands_on(v)"),
}
KEPT = {
    "kept": ("u = Module.keeps(i)",),
    "returned": ("u = Module.returns(i)",),
    "what a packed function in a callee returns, kept": ("u = Module.shows(i)",),
    "what a packed function returns, kept": (RETURNED, "t = Module.keeps(v)"),
    "another tensor": ("u = Module.overwrites(o)", "t = Module.hands_on(r)"),
    "another constant": (CONSTANT.replace("i =", "c =").replace("7]", "6]"), "u = Module.overwrites(c)"),
}


@pytest.mark.parametrize("made", [CONSTANT, NEW])
@pytest.mark.parametrize("how", CHANGED)
def test_what_a_callee_may_have_changed_is_assumed(how: str, made: str) -> None:
    assert said(module_of(made, *CHANGED[how], GATHERED, extra=CALLEES)) == [Status.ASSUMED]


@pytest.mark.parametrize("how", KEPT)
def test_a_constant_that_no_callee_changes_is_proved(how: str) -> None:
    assert said(module_of(CONSTANT, *KEPT[how], GATHERED, extra=CALLEES)) == []


@pytest.mark.parametrize(("given", "expected"), [("i", [Status.ASSUMED]), ("o", [])])
def test_what_an_unknown_function_gets_may_be_changed(given: str, expected: list[Status]) -> None:
    main = MAIN.replace("r: {tensor}", "r: {tensor}, f: R.Callable")
    lines = "\n".join(f"    {line}" for line in (CONSTANT, f"u = f({given})", GATHERED))
    assert said(parse(INDEX_KERNELS + main.format(lines=lines, tensor=TENSOR))) == expected


def test_what_a_callee_returns_is_presumed_new_where_others_may_keep_what_they_are_given() -> None:
    lines = ("u = Module.shows(i)", in_place("hundreds", "u"), COPIED)
    (found,) = [
        check
        for check in checks(module_of(NEW, *lines, extra=CALLEES), "RLX206")
        if check.function == "main" and "`i`" in check.message
    ]
    presumed = "`relax_lint.tests.same` returns a new tensor, none that it was given or has kept"
    assert (found.verdict.value, found.assumes) == ("always-fine", (presumed,))


def _fill_with_100(tensor: Any) -> None:
    tensor.copyfrom(np.full(8, 100, "int32"))


@pytest.mark.vm
@pytest.mark.parametrize("how", [*CHANGED, *KEPT])
def test_what_a_run_says(how: str) -> None:
    tvm.register_global_func("relax_lint.tests.same", lambda tensor: tensor, override=True)
    tvm.register_global_func("relax_lint.tests.fill_with_100", _fill_with_100, override=True)
    module = module_of(CONSTANT, *{**CHANGED, **KEPT}[how], COPIED, extra=CALLEES)
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = [tvm.runtime.tensor(np.zeros(8, dtype)) for dtype in ("float32", "int32", "int32")]
    found = machine["main"](*given).numpy()
    assert bool(((found >= 0) & (found < 8)).all()) is (how in KEPT)
