"""RLX205 for what a function writes in part before it reads it."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse
from tests.rules.test_older_names import KERNELS

PROGRAM = (
    KERNELS
    + """
@T.prim_func(private=True, s_tir=True)
def half(y: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(2)):
        y[i] = T.float32(1)

@R.function(pure=False, private=True)
def inner(y: R.Tensor((4,), "float32"), z: R.Tensor((4,), "float32")) -> R.Tuple():
    cls = Module
    {first}
    cls.copy(y, z)
    r = R.tuple()
    return r

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    cls = Module
    y = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    z = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    u = cls.inner(y, z)
    return z
"""
)


@pytest.mark.parametrize(
    ("first", "verdict", "words"),
    [
        ("cls.half(y)", "needs-runtime-check", "`y` is read although only a part of it may be written"),
        ("q = y", "always-wrong", "nothing writes `y` before it is read"),
        ("cls.half(z)", "always-wrong", "nothing writes `y` before it is read"),
    ],
)
def test_what_is_begun_before_it_is_read_may_hold_something(first: str, verdict: str, words: str) -> None:
    (check,) = checks(parse(PROGRAM.format(first=first)), "RLX205")
    assert (check.verdict.value, check.message) == (verdict, words)
