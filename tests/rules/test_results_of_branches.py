"""What either branch of an `if` leaves: tensors on one storage, and shapes that differ."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse
from tests.rules.test_older_names import KERNELS

ON_ONE_STORAGE = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    cls = Module
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    {before}
    if c:
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        cls.copy(x, t)
        v = {then}
    else:
        u = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        cls.copy(x, u)
        v = {otherwise}
    w = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    cls.copy(v, w)
    return w
"""
FIRST = """p = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    cls.copy(x, p)"""
SHAPES = """
@T.prim_func(private=True, s_tir=True)
def end(x: T.Buffer((T.int64(8),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        y[i] = x[i + 4]

@R.function
def main(
    four: R.Tensor((4,), "float32"), eight: R.Tensor((8,), "float32"), c: R.Tensor((), "bool")
) -> R.Tensor((4,), "float32"):
    if c:
        v: R.Tensor(ndim=1, dtype="float32") = {then}
    else:
        v: R.Tensor(ndim=1, dtype="float32") = {otherwise}
    w = R.call_tir(Module.end, (v,), out_ty=R.Tensor((4,), "float32"))
    return w
"""


@pytest.mark.parametrize(
    ("before", "then", "otherwise", "is_fine"),
    [
        ("", "t", "u", True),
        # Either branch overwrites what was there before both.
        (FIRST, "p", "u", False),
        (FIRST, "t", "p", False),
    ],
)
def test_a_branch_overwrites_nothing_of_the_other(
    before: str, then: str, otherwise: str, is_fine: bool
) -> None:
    text = ON_ONE_STORAGE.format(before=before, then=then, otherwise=otherwise)
    found = checks(parse(KERNELS + text), "RLX2")
    assert all(check.verdict.value == "always-fine" for check in found) == is_fine


@pytest.mark.parametrize(
    ("then", "otherwise", "verdict"),
    [
        ("four", "eight", "needs-runtime-check"),
        ("eight", "four", "needs-runtime-check"),
        ("four", "four", "always-wrong"),
        ("eight", "eight", "always-fine"),
    ],
)
def test_a_shape_is_known_where_both_branches_have_it(then: str, otherwise: str, verdict: str) -> None:
    (check,) = checks(parse(SHAPES.format(then=then, otherwise=otherwise)), "RLX301")
    assert check.verdict.value == verdict
