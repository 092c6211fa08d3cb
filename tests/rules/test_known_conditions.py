"""What stands where no run gets, because a condition is a constant, was asserted, or is made of such ones: RLX101 and
RLX201, with what the VM does with the first. What a run reaches stays wrong.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm

from relax_lint.replay import Machine, Module, Outcome, Tensor
from tests.rules.checking import checks, parse

T4, FLAG = 'R.Tensor((4,), "float32")', 'R.Tensor((), "bool")'
KERNELS = """
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def flip(c: T.Buffer((), "bool")):
    c[()] = not c[()]
"""
WRONG = f"""s = R.memory.alloc_storage(R.shape([8]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
k = Module.copy(x, a)
kk = R.memory.kill_tensor(a)
r = R.call_tir(Module.copy, (a,), {T4})"""
RIGHT = f"r = R.call_tir(Module.copy, (x,), {T4})"
NO = 'R.const(False, "bool")'
YES = 'R.const(True, "bool")'


def _indented(text: str) -> str:
    return text.replace("\n", "\n        ")


def _text(before: str, condition: str, *, signature: str = "", name: str = "main", deco: str = "") -> str:
    return f"""
@R.function({deco}pure=False)
def {name}(x: {T4}, c: {FLAG}, d: {FLAG}{signature}) -> {T4}:
    {before or "w = x"}
    if {condition}:
        {_indented(WRONG)}
    else:
        {RIGHT}
    return r
"""


def _callee(*flags: str, again: str = "") -> str:
    """A private function that is called with each of the flags."""
    lines = [f"x{n} = Module.f(x, c, {flag})" for n, flag in enumerate(flags)]
    callee = _text("", "d", name="f", deco="private=True, ")
    if again:
        callee = callee.replace(RIGHT, f"if c:\n            r = {again}\n        else:\n            {RIGHT}")
    called = "\n    ".join(lines)
    return f"""{callee}
@R.function(pure=False)
def main(x: {T4}, c: {FLAG}, d: {FLAG}) -> {T4}:
    {called}
    return x{len(lines) - 1}
"""


ASSERTED = "k0 = R.assert_op({}, format='no')"
NOT_REACHED = {
    "a constant": _text(f"n = {NO}", "n"),
    "the negation of a constant": _text(f"y = {YES}\n    n = R.logical_not(y)", "n"),
    "both of a condition and its negation": _text("n = R.logical_not(c)\n    b = R.logical_and(c, n)", "b"),
    "asserted": _text(f"n = R.logical_not(c)\n    {ASSERTED.format('n')}", "c"),
    "neither asserted": _text(
        f"e = R.logical_or(c, d)\n    n = R.logical_not(e)\n    {ASSERTED.format('n')}", "d"
    ),
    "the other one is asserted": _text(
        f"b = R.logical_and(c, d)\n    n = R.logical_not(b)\n    {ASSERTED.format('c')}\n    {ASSERTED.format('n')}",
        "d",
    ),
    "behind what cannot hold": _text(f"n = {NO}\n    {ASSERTED.format('n')}", "c"),
    "behind a branch that fails": _text(
        f"n = {NO}\n    if c:\n        {ASSERTED.format('n')}\n        g = x\n    else:\n        g = x", "c"
    ),
    "given by every call": _callee(NO, NO),
    "given by every call, and by its own": _callee(NO, again="Module.f(x, R.logical_not(c), d)"),
}
REACHED = {
    "a constant": _text(f"n = {YES}", "n"),
    "one of a condition and its negation": _text("n = R.logical_not(c)\n    b = R.logical_or(c, n)", "b"),
    "asserted": _text(ASSERTED.format("c"), "c"),
    "not both are asserted": _text(
        f"b = R.logical_and(c, d)\n    n = R.logical_not(b)\n    {ASSERTED.format('n')}", "d"
    ),
    "a constant that is changed": _text(f"n = {NO}\n    k0 = Module.flip(n)", "n"),
    "changed behind the assertion": _text(
        f"n = R.logical_not(c)\n    {ASSERTED.format('n')}\n    k1 = Module.flip(c)", "c"
    ),
    "behind what may hold": _text(ASSERTED.format("d"), "c"),
    "given by some calls": _callee(NO, "d"),
    "given by one of its own": _callee(NO, again=f"Module.f(x, R.logical_not(c), {YES})"),
}


def _said(text: str) -> set[tuple[str, str]]:
    found = [check for code in ("RLX101", "RLX201") for check in checks(parse(text), code)]
    return {(check.rule, check.verdict.value) for check in found if check.verdict.value != "always-fine"}


def _module(text: str) -> Module:
    return Module(tvm.ir.save_json(parse(KERNELS + text)), "json")


@pytest.mark.vm
def test_what_no_run_reaches_is_not_judged() -> None:
    """No call fails but by the assertion."""
    with Machine() as machine:
        for name, text in NOT_REACHED.items():
            assert _said(KERNELS + text) == set(), name
            for c, d in np.ndindex(2, 2):
                run = machine.run(
                    _module(text),
                    "main",
                    (Tensor("float32", (4,)), Tensor("bool", (), c), Tensor("bool", (), d)),
                    allocator="naive",
                )
                assert run.outcome is Outcome.OK or run.error_type == "AssertionError", (name, run)


@pytest.mark.vm
def test_what_a_run_reaches_is_wrong() -> None:
    """Some call fails where the storage is too small."""
    with Machine() as machine:
        for name, text in REACHED.items():
            assert _said(KERNELS + text) == {("RLX101", "always-wrong"), ("RLX201", "always-wrong")}, name
            ends = [
                machine.run(
                    _module(text),
                    "main",
                    (Tensor("float32", (4,)), Tensor("bool", (), c), Tensor("bool", (), d)),
                    allocator="naive",
                ).error_type
                for c, d in np.ndindex(2, 2)
            ]
            assert set(ends) - {None, "AssertionError"}, (name, ends)
