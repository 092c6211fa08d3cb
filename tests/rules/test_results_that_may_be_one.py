"""RLX205: two fields of what a function returns may be one tensor, always or on some paths: what fills one may fill the
other one.
"""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, T4

ALLOCATED = 'R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))'
PROGRAM = f"""{KERNELS}
@R.function(private=True, pure=False)
def callee(x: T4, c: R.Tensor((), "bool"), d: R.Tensor((), "bool")):
    a = {ALLOCATED}
    b = {ALLOCATED}
    if c:
        p = a
        r = p
    else:
        p = b
        r = p
    if d:
        q = a
        t = q
    else:
        q = b
        t = q
    return RETURNED

@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool"), d: R.Tensor((), "bool")):
    u = Module.callee(x, c, d)
    f = u[FILLED]
    w = Module.double(x, f)
    g = u[READ]
    o = R.call_tir(Module.double, (g,), T4)
    return o
"""
FINE, UNSURE, WRONG = set[str](), {"needs-runtime-check"}, {"always-wrong"}


@pytest.mark.parametrize(
    ("returned", "filled", "read", "expected"),
    [
        ("(a, b)", 0, 1, WRONG),
        ("(a, a)", 0, 1, FINE),
        ("(a, b, b)", 0, 1, WRONG),
        ("(a, b, b)", 1, 2, FINE),
        ("(a, b, b)", 2, 1, FINE),
        # `r` is `a` where `c` holds, and so is `t` where `d` holds.
        ("(r, t)", 0, 1, UNSURE),
        ("(r, t)", 1, 0, UNSURE),
        ("(r, t)", 0, 0, FINE),
        ("(r, a)", 0, 1, UNSURE),
        ("(a, r)", 0, 1, UNSURE),
        ("(r, a, a)", 0, 2, UNSURE),
        ("(r, a, a)", 2, 0, UNSURE),
        ("(a, r, a)", 1, 2, UNSURE),
        ("(a, r, a)", 0, 2, FINE),
        ("(a, r, a)", 2, 0, FINE),
        # Where `c` holds and `d` does not, neither is the other one.
        ("(r, b, t)", 0, 2, UNSURE),
    ],
)
def test_what_is_filled_by_another_name(returned: str, filled: int, read: int, expected: set[str]) -> None:
    text = PROGRAM.replace("RETURNED", returned).replace("FILLED", str(filled)).replace("READ", str(read))
    found = [check for check in checks(parse(text.replace("T4", T4)), "RLX205") if check.function == "main"]
    assert {check.verdict.value for check in found} - {"always-fine"} == expected
