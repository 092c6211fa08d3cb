"""Closures in modules that are lowered to the builtins of the VM are followed as before: what is said of the text and
of the lowered module, with what the VM does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse, stages

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
T4 = 'R.Tensor((4,), "float32")'
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32")
    y = T.match_buffer(b, (4,), "float32")
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def turn(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32")
    y = T.match_buffer(b, (4,), "float32")
    for i in range(4):
        y[i] = x[3 - i]

@R.function(private=True, pure=False)
def turned(p: {T4}, t: {T4}) -> {T4}:
    k = Module.turn(p, t)
    return t

@R.function(private=True, pure=False)
def first(p: {T4}, t: {T4}) -> {T4}:
    u = R.call_tir(Module.copy, (p,), {T4})
    return u

@R.function(private=True, pure=False)
def held(p: {T4}, t: {T4}) -> {T4}:
    u = R.call_tir(Module.copy, (t,), {T4})
    return u

@R.function(pure=False)
def main(x: {T4}, z: {T4}):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    k = Module.copy(x, t)
    f = R.make_closure(Module.FUNCTION, (t,))
    OVERWRITTEN
    v = R.invoke_closure(f, (GIVEN,), ty_args={T4})
    return v
"""
OVERWRITTEN = """b = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    l = Module.copy(z, b)"""
X, Z = [0, 1, 2, 3], [9, 9, 9, 9]


def _module(function: str, given: str, overwritten: str) -> Any:
    text = TEXT.replace("FUNCTION", function).replace("GIVEN", given).replace("OVERWRITTEN", overwritten)
    return parse(text)


def _said(module: Any) -> set[tuple[str, Verdict]]:
    found = [check for check in checks(module, "RLX20") if check.function == "main"]
    return {(c.rule, c.verdict) for c in found if c.verdict is not Verdict.ALWAYS_FINE and c.rule != "RLX207"}


@pytest.mark.vm
@pytest.mark.parametrize(
    ("function", "given", "overwritten", "said", "returned"),
    [
        ("turned", "t", "", {("RLX206", UNSURE)}, [3, 2, 2, 3]),
        ("turned", "x", "", set(), X[::-1]),
        ("held", "x", OVERWRITTEN, {("RLX203", WRONG)}, Z),
        ("first", "x", OVERWRITTEN, set(), X),
    ],
    ids=["given what it holds", "given another", "holds what is overwritten", "does not read it"],
)
def test_what_is_said_stays_the_same(
    function: str, given: str, overwritten: str, said: set[tuple[str, Verdict]], returned: list[float]
) -> None:
    module = _module(function, given, overwritten)
    lowered = stages(module)[-1][1]
    assert "vm.builtin.invoke_closure" in lowered.script()
    assert _said(module) == said
    assert _said(lowered) == said
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    x, z = np.arange(4, dtype="float32"), np.full(4, 9, "float32")
    assert list(machine["main"](*map(tvm.runtime.tensor, (x, z))).numpy()) == returned


def test_one_argument_that_is_a_tuple_is_one() -> None:
    text = f"""
@R.function(private=True)
def second(p: R.Tuple({T4}, {T4})) -> {T4}:
    u = p[1]
    return u

@R.function(pure=False)
def main(x: {T4}, z: {T4}):
    f = R.call_packed("vm.builtin.make_closure", Module.second, ty_args=R.Any)
    v = R.call_builtin_with_ctx("vm.builtin.invoke_closure", (f, (x, z)), ty_args={T4})
    w = R.call_builtin_with_ctx("vm.builtin.invoke_closure", (), ty_args={T4})
    return v
"""
    assert not checks(parse(text), "RLX904")
