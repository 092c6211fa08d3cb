"""RLX206 for kernels with two results on the same bytes: certain where what is used afterwards is something else
than on memory of its own, with what runs return.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

BUFFER = 'T.Buffer((T.int64(4),), "float32")'
TENSOR = 'R.Tensor((4,), "float32")'
PROGRAM = f"""
@T.prim_func(private=True, s_tir=True)
def copy(x: {BUFFER}, y: {BUFFER}):
    for i in range(T.int64(4)):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def first_last(a: {BUFFER}, b: {BUFFER}):
    for i in range(T.int64(4)):
        b[i] = T.float32(1)
    for i in range(T.int64(4)):
        a[i] = T.float32(2)

@T.prim_func(private=True, s_tir=True)
def second_last(a: {BUFFER}, b: {BUFFER}):
    for i in range(T.int64(4)):
        a[i] = T.float32(2)
    for i in range(T.int64(4)):
        b[i] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def counts(a: {BUFFER}, b: {BUFFER}):
    for i in range(T.int64(4)):
        a[i] = T.float32(2)
    for i in range(T.int64(4)):
        b[i] = b[i] + T.float32(1)

@R.function(pure=False)
def main(z: {TENSOR}) -> R.Tuple({TENSOR}, {TENSOR}):
    cls = Module
    s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    own = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
    b = R.memory.alloc_tensor({{storage}}, 0, R.shape([4]), "float32")
    cls.copy(z, b)
    cls.{{kernel}}(a, b)
    one = R.call_tir(cls.copy, ({{used[0]}},), out_ty={TENSOR})
    two = R.call_tir(cls.copy, ({{used[1]}},), out_ty={TENSOR})
    return (one, two)
"""
FINE, UNSURE, WRONG = "always-fine", "needs-runtime-check", "always-wrong"


def _module(kernel: str, used: tuple[str, str], storage: str) -> Any:
    return parse(PROGRAM.format(kernel=kernel, used=used, storage=storage))


@pytest.mark.parametrize(
    ("kernel", "used", "verdict"),
    [
        # `a` holds what it should whoever is written last: only `b` may not.
        ("first_last", ("a", "b"), UNSURE),
        ("first_last", ("a", "z"), UNSURE),
        ("second_last", ("a", "b"), WRONG),
        ("second_last", ("a", "z"), WRONG),
        # Nothing sees what `a` should have been.
        ("second_last", ("z", "b"), UNSURE),
        ("second_last", ("z", "z"), UNSURE),
        # What is added up is what `a` has become.
        ("counts", ("a", "b"), WRONG),
        ("counts", ("z", "b"), WRONG),
    ],
)
def test_what_is_used_afterwards_decides(kernel: str, used: tuple[str, str], verdict: str) -> None:
    (found,) = checks(_module(kernel, used, "s"), "RLX206")
    assert found.verdict.value == verdict
    apart = checks(_module(kernel, used, "own"), "RLX206")
    assert {one.verdict.value for one in apart} <= {FINE}
    if verdict == WRONG:
        assert _returned(kernel, used, "s") != _returned(kernel, used, "own")


@pytest.mark.vm
@pytest.mark.parametrize(("kernel", "used"), [("first_last", ("a", "z")), ("second_last", ("z", "b"))])
def test_what_is_not_certain_may_run_right(kernel: str, used: tuple[str, str]) -> None:
    assert _returned(kernel, used, "s") == _returned(kernel, used, "own")


def _returned(kernel: str, used: tuple[str, str], storage: str) -> list[list[float]]:
    machine = relax.VirtualMachine(tvm.compile(_module(kernel, used, storage), "llvm"), tvm.cpu())
    return [list(one.numpy()) for one in machine["main"](tvm.runtime.tensor(np.full(4, 9, "float32")))]
