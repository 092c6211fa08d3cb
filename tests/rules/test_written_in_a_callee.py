"""RLX205 for what a function writes in part before it reads it, on each of its ways or on some."""

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


WAYS = """
@T.prim_func(private=True, s_tir=True)
def begin(y: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def take(y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = y[i // 2]

@T.prim_func(private=True, s_tir=True)
def look(y: T.Buffer((4,), "float32"), k: T.Buffer((1,), "int32"), z: T.Buffer((4,), "float32")):
    y[0] = T.float32(1)
    for i in range(4):
        z[i] = y[k[0]]

@R.function(pure=False, private=True)
def inner(
    y: R.Tensor((4,), "float32"), z: R.Tensor((4,), "float32"),
    c: R.Tensor((), "bool"), k: R.Tensor((1,), "int32")
) -> R.Tuple():
    cls = Module
    if c:
        a = {then}
        v = z
    else:
        b = {otherwise}
        v = z
    {after}
    r = R.tuple()
    return r

@R.function(pure=False)
def main(
    z: R.Tensor((4,), "float32"), c: R.Tensor((), "bool"), k: R.Tensor((1,), "int32")
) -> R.Tensor((4,), "float32"):
    cls = Module
    y = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    u = cls.inner(y, z, c, k)
    return z
"""
UNSURE = "needs-runtime-check"
NOTHING = "nothing writes `y` before it is read"
PARTLY = "`y` is read although only a part of it may be written"
BEGIN, TAKE, LOOK = "cls.begin(y)", "cls.take(y, z)", "cls.look(y, k, z)"


@pytest.mark.parametrize(
    ("then", "otherwise", "after", "verdict", "words"),
    [
        # On one way nothing writes what is read; on both, or before both, a part is written.
        (BEGIN, "z", TAKE, UNSURE, NOTHING),
        ("z", BEGIN, TAKE, UNSURE, NOTHING),
        (BEGIN, BEGIN, TAKE, UNSURE, PARTLY),
        ("z", "z", TAKE, "always-wrong", NOTHING),
        # The kernel writes the element that it reads, if it is the first one.
        (LOOK, LOOK, "q = z", UNSURE, PARTLY),
        (LOOK, "z", "q = z", UNSURE, PARTLY),
        ("z", LOOK, "q = z", UNSURE, PARTLY),
        ("z", "z", f"q = {LOOK}", UNSURE, PARTLY),
        (TAKE, LOOK, "q = z", UNSURE, NOTHING),
        (LOOK, TAKE, "q = z", UNSURE, NOTHING),
        (TAKE, TAKE, "q = z", "always-wrong", NOTHING),
    ],
)
def test_what_is_begun_on_some_ways_may_hold_something(
    then: str, otherwise: str, after: str, verdict: str, words: str
) -> None:
    program = parse(WAYS.format(then=then, otherwise=otherwise, after=after))
    (check,) = checks(program, "RLX205")
    assert (check.verdict.value, check.message) == (verdict, words)
