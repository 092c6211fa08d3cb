"""RLX205: a tensor of which a part is written before a branch, and the rest in it, or not."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

PROGRAM = """
@T.prim_func(private=True, s_tir=True)
def front(y: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def back(y: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i + 2] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def fill(y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def some(b: T.handle, y: T.Buffer((4,), "float32")):
    n = T.int64()
    v = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        if i < 4:
            y[i] = v[i]

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), v: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
    n = T.int64()
    a = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    w = {before}
    if c:
        w1 = {then}
        p = x
    else:
        w2 = {other}
        p = x
    r = R.add(a, p)
    return r
"""
BACK, FRONT, FILL, SOME, NOTHING = (
    "Module.back(a)",
    "Module.front(a)",
    "Module.fill(a)",
    "Module.some(v, a)",
    "x",
)


@pytest.mark.parametrize(
    ("before", "then", "other", "expected"),
    [
        (FILL, NOTHING, NOTHING, None),
        (FRONT, FILL, FILL, None),
        # As many as `v` has: all are written where it has 4 or more, or in the branch.
        (SOME, NOTHING, NOTHING, "needs-runtime-check"),
        (SOME, FILL, NOTHING, "needs-runtime-check"),
        (SOME, FILL, FILL, None),
        # The rest is written where `c` holds, where it does not, or in any case.
        (FRONT, BACK, NOTHING, "needs-runtime-check"),
        (FRONT, NOTHING, BACK, "needs-runtime-check"),
        (FRONT, FILL, NOTHING, "needs-runtime-check"),
        (FRONT, BACK, BACK, None),
        (FRONT, BACK, FRONT, "needs-runtime-check"),
    ],
)
def test_a_part_before_a_branch_and_the_rest_in_it(
    before: str, then: str, other: str, expected: str | None
) -> None:
    found = checks(parse(PROGRAM.format(before=before, then=then, other=other)), "RLX205")
    said = {check.verdict.value for check in found if check.binding == "r"}
    assert said - {"always-fine"} == ({expected} if expected else set())
