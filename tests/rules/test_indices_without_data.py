"""Indices that a kernel counts without any data, and keeps in a buffer of its own: RLX306 takes nothing about data
for granted there.
"""

from __future__ import annotations

import pytest

from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
PRODUCT = " * ".join(["(n + m + k + 1)"] * 10)
"""A sum of 286 terms, which is not written down: 10 ** 10 in the call."""
TEXT = """
@T.prim_func(private=True, s_tir=True)
def kernel(a: T.handle, b: T.handle, c: T.handle, d: T.handle):
    n = T.int64()
    m = T.int64()
    k = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (m,), "int64")
    z = T.match_buffer(c, (k,), "float32")
    r = T.match_buffer(d, (n,), "float32")
    at = T.alloc_buffer((2,), "int64")
    for i in range(n):
        r[i] = x[i]
    STORES
    r[at[0]] = T.float32(1)

@R.function
def main(x: R.Tensor((7,), "float32"), y: R.Tensor((1,), "int64"), z: R.Tensor((1,), "float32")):
    r = R.call_tir(Module.kernel, (x, y, z), out_ty=R.Tensor((7,), "float32"))
    return r
"""


def _said(stores: str) -> Check:
    (found,) = checks(parse(TEXT.replace("STORES", stores)), "RLX306")
    return found


@pytest.mark.parametrize(
    ("stores", "verdict"),
    [
        (f"at[0] = {PRODUCT}", UNSURE),
        (f"at[0] = {PRODUCT} + n", UNSURE),
        (f"for i in range(2):\n        at[i] = {PRODUCT} - i", UNSURE),
        ("at[0] = n", WRONG),
        # Nothing is known of what is divided.
        (f"at[0] = ({PRODUCT}) % n", UNSURE),
    ],
)
def test_a_counted_index_is_not_taken_for_data(stores: str, verdict: Verdict) -> None:
    found = _said(stores)
    assert found.verdict is verdict
    assert found.assumes == ()


@pytest.mark.parametrize("stores", ["at[0] = y[0]", f"at[0] = y[0] * ({PRODUCT})"])
def test_an_index_from_data_is_an_assumption(stores: str) -> None:
    found = _said(stores)
    assert found.verdict is FINE
    assert found.assumes
