"""Data that decides what a kernel does: whether it calls somebody who is not known may matter, or not."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

MODULE = f"""
@T.prim_func(private=True, s_tir=True)
def kernel(x: T.Buffer((4,), "float32"), t: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]
    own = T.alloc_buffer((1,), "float32")
    if t[0] > T.float32(0):
        BODY

@R.function(pure=False)
def main(x: {T4}, y: {T4}) -> {T4}:
    s = {STORAGE}
    t = {TENSOR.format("s")}
    k = Module.kernel(x, t, y)
    return y
"""
CALL = 'T.call_extern("float32", "g")'


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        # Nobody reads what is stored.
        ("own[0] = x[0]", "needs-runtime-check"),
        ("own[0] = T.exp(x[0])", "needs-runtime-check"),
        # Who is called may do nothing.
        (f"own[0] = {CALL}", "needs-runtime-check"),
        (f"own[0] = x[0] + T.exp({CALL})", "needs-runtime-check"),
        (f"own[T.Cast('int32', {CALL})] = x[0]", "needs-runtime-check"),
        (f"T.evaluate({CALL})", "needs-runtime-check"),
        ("y[0] = x[0] + T.float32(1)", "always-wrong"),
    ],
)
def test_what_decides_whether_something_is_called_is_used(body: str, verdict: str) -> None:
    found = checks(parse(KERNELS + MODULE.replace("BODY", body)), "RLX205")
    assert [check.verdict.value for check in found if check.binding == "k"] == [verdict]
