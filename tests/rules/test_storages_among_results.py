"""A function returns a tensor and storages, of which a branch chose which is which: what is put on one of them may
lie over the tensor. RLX203, with what the VM returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

FINE, UNSURE = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK
T4 = 'R.Tensor((4,), "float32")'
STORAGE = 'R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
TENSOR = 'R.memory.alloc_tensor({}, R.prim_value(0), R.shape([4]), R.dtype("float32"))'
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32")
    y = T.match_buffer(b, (4,), "float32")
    for i in range(4):
        y[i] = x[i]

@R.function(private=True, pure=False)
def made(x: {T4}, o: R.Any, c: R.Tensor((), "bool")):
    s = {STORAGE}
    s2 = {STORAGE}
    t = {TENSOR.format("s")}
    k = Module.copy(x, t)
    CHOICE
    return r

@R.function(private=True, pure=False)
def handed_on(x: {T4}, o: R.Any, c: R.Tensor((), "bool")):
    p = Module.made(x, o, c)
    q = p[1]
    t = p[0]
    r = (t, q)
    return r

@R.function(pure=False)
def main(x: {T4}, z: {T4}, c: R.Tensor((), "bool")):
    o = {STORAGE}
    p = Module.FUNCTION(x, o, c)
    t = p[0]
    s = p[1]
    b = {TENSOR.format("s")}
    w = Module.copy(z, b)
    u = R.call_tir(Module.copy, (t,), {T4})
    return u
"""
X, Z = [0, 1, 2, 3], [9, 9, 9, 9]
SWAPPED = "if c:\n        p = (s, s2)\n    else:\n        p = (s2, s)\n    q = p[0]\n    r = (t, q)"


def _run(module: Any) -> list[list[float]]:
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    x, z = np.arange(4, dtype="float32"), np.full(4, 9, "float32")
    given = [(x, z, np.array(condition)) for condition in (True, False)]
    return [list(machine["main"](*map(tvm.runtime.tensor, one)).numpy()) for one in given]


@pytest.mark.vm
@pytest.mark.parametrize("function", ["made", "handed_on"])
@pytest.mark.parametrize(
    ("choice", "verdict", "returned"),
    [
        (SWAPPED, UNSURE, [Z, X]),
        (SWAPPED.replace("(t, q)", "(t, q, p[1])"), UNSURE, [Z, X]),
        ("if c:\n        q = o\n    else:\n        q = s\n    r = (t, q)", UNSURE, [X, Z]),
        ("r = (t, s)", UNSURE, [Z, Z]),
        ("r = (t, s2)", FINE, [X, X]),
        ("if c:\n        q = s2\n    else:\n        q = o\n    r = (t, q)", FINE, [X, X]),
    ],
    ids=["one of two", "both of them", "or what was passed in", "its own", "another", "one of two others"],
)
def test_a_storage_that_is_returned_may_be_that_of_a_tensor(
    function: str, choice: str, verdict: Verdict, returned: list[list[float]]
) -> None:
    module = parse(TEXT.replace("CHOICE", choice).replace("FUNCTION", function))
    found = [check for check in checks(module, "RLX203") if (check.function, check.binding) == ("main", "w")]
    assert {check.verdict for check in found} == ({verdict} - {FINE})
    assert _run(module) == returned
