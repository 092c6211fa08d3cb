"""RLX206 where a function writes one of its arguments and gives another one back, which may be the same tensor; with
what the VM returns.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

TYPE = 'R.Tensor((4,), "float32")'
PROGRAM = f"""
@T.prim_func(private=True, s_tir=True)
def double_in_place(x: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        x[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def double(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        y[i] = x[i] * T.float32(2)

@R.function(private=True, pure=False)
def both(p: {TYPE}, q: {TYPE}):
    w = R.call_tir_inplace(Module.double_in_place, (p,), inplace_indices=[0], out_ty={TYPE})
    return (w, q)

@R.function(private=True, pure=False)
def through(p: {TYPE}, q: {TYPE}):
    t = Module.both(p, q)
    return t

@R.function(private=True, pure=False)
def either(p: {TYPE}, q: {TYPE}, c: R.Tensor((), "bool")) -> {TYPE}:
    if c:
        w = R.call_tir_inplace(Module.double_in_place, (p,), inplace_indices=[0], out_ty={TYPE})
        r = w
    else:
        r = q
    return r

@R.function(private=True, pure=False)
def afterwards(p: {TYPE}, q: {TYPE}, c: R.Tensor((), "bool")) -> {TYPE}:
    if c:
        r = p
    else:
        r = q
    w = R.call_tir_inplace(Module.double_in_place, (p,), inplace_indices=[0], out_ty={TYPE})
    s = r
    return s

@R.function(pure=False)
def main(x: {TYPE}, y: {TYPE}, c: R.Tensor((), "bool")) -> {TYPE}:
    a = R.call_tir(Module.double, (x,), out_ty={TYPE})
    b = R.call_tir(Module.double, (y,), out_ty={TYPE})
    LINES
    r = R.call_tir(Module.double, (w,), out_ty={TYPE})
    return r
"""


def _run(text: str, condition: bool) -> list[float]:
    machine = relax.VirtualMachine(tvm.compile(parse(text), "llvm", relax_pipeline="default"), tvm.cpu())
    x, y = np.arange(1, 5, dtype="float32"), np.arange(11, 15, dtype="float32")
    given: tuple[Any, ...] = (x, y, np.array(condition))
    return list(machine["main"](*map(tvm.runtime.tensor, given)).numpy())


@pytest.mark.vm
@pytest.mark.parametrize(
    ("lines", "is_told", "wrong"),
    [
        ("p = Module.both(a, a); w = p[1]", True, (True, True)),
        ("p = Module.both(a, b); w = p[1]", False, (False, False)),
        ("p = Module.through(a, a); w = p[1]", True, (True, True)),
        ("p = Module.through(a, b); w = p[0]", False, (False, False)),
        ("w = Module.either(a, a, c)", False, (False, False)),
        ("w0 = Module.either(a, b, c); w = Module.either(w0, b, c)", False, (False, False)),
        ("w = Module.afterwards(b, b, c)", True, (True, True)),
        # Nobody uses what it gives back.
        ("p = Module.both(a, a); w = b", False, (False, False)),
    ],
)
def test_an_argument_that_is_given_back_is_not_the_one_that_is_written(
    lines: str, is_told: bool, wrong: tuple[bool, bool]
) -> None:
    text = PROGRAM.replace("LINES", lines.replace("; ", "\n    "))
    apart = re.sub(r"_in_place, \((\w+),\), inplace_indices=\[0\]", r", (\1,)", text)
    apart = apart.replace("call_tir_inplace", "call_tir")
    said = [c.verdict for c in checks(parse(text), "RLX206") if c.function == "main"]
    assert any(verdict is not Verdict.ALWAYS_FINE for verdict in said) == is_told
    assert tuple(_run(text, c) != _run(apart, c) for c in (True, False)) == wrong


HELD = (
    PROGRAM[: PROGRAM.index("@R.function(pure=False)\ndef main")]
    + f"""
@R.function(pure=False)
def main(x: {TYPE}, c: R.Tensor((), "bool")):
    a = R.call_tir(Module.double, (x,), out_ty={TYPE})
    p = Module.both(a, a)
    LINES
"""
)
IN_A_BRANCH = "if c:\n        q = (x, (p, x))\n    else:\n        q = (x, (p, x))\n    return q"


@pytest.mark.vm
@pytest.mark.parametrize(
    ("lines", "is_told"),
    [
        ("return p", True),
        ("return (x, p)", True),
        ("return (x, (p, x))", True),
        ("q = (x, (p, x))\n    return q", True),
        (IN_A_BRANCH, True),
        ("return x", False),
        ("return (x, (x, x))", False),
    ],
)
def test_what_is_given_back_in_a_tuple_of_a_tuple_is_used(lines: str, is_told: bool) -> None:
    """`both` gives back 2 * a beside an `a` that should be as it was: 2 and 4 times x."""
    module = parse(HELD.replace("LINES", lines))
    said = [check.verdict for check in checks(module, "RLX206") if check.binding == "p"]
    assert any(verdict is not Verdict.ALWAYS_FINE for verdict in said) == is_told
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    x = np.ones(4, dtype="float32")
    found = machine["main"](tvm.runtime.tensor(x), tvm.runtime.tensor(np.array(True)))
    # Both fields are the one tensor, which holds 4 times x.
    assert (sorted(float(one.numpy()[0]) for one in _tensors(found)).count(4.0) == 2) == is_told


def _tensors(found: Any) -> list[Any]:
    return [found] if hasattr(found, "numpy") else [one for field in found for one in _tensors(field)]
