"""RLX101 to RLX103 where the program does not say at which byte a tensor starts."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

PROGRAM = """
@R.function(pure=False)
def main(k: R.Prim("float32")) -> R.Tensor((4,), "float32"):
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    at = {at}
    alloc = R.memory.alloc_tensor(storage, at, R.shape([4]), "float32")
    return alloc
"""
UNSAID = "needs-runtime-check"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ('R.call_packed("where", ty_args=[R.Prim("int64")])', (UNSAID, UNSAID, UNSAID)),
        # What is no whole number at all.
        ("k", (UNSAID, UNSAID, UNSAID)),
        ("R.prim_value(T.float32(1))", (UNSAID, UNSAID, UNSAID)),
        ("R.prim_value(0)", ("always-fine",) * 3),
        ("R.prim_value(4)", ("always-wrong", "always-fine", "always-fine")),
    ],
)
def test_an_offset_that_is_not_known_may_be_any(at: str, said: tuple[str, ...]) -> None:
    found = checks(parse(PROGRAM.format(at=at)), "RLX10")
    last = {check.rule: check.verdict.value for check in found}
    assert tuple(last[rule] for rule in ("RLX101", "RLX102", "RLX103")) == said


PASSED = """
@R.function(private=True, pure=False)
def inner(s: R.Object, shape: R.Shape(ndim=1), at: R.Prim("int64"), x: R.Tensor(("n",), "float32")):
    n = T.int64()
    m = T.int64()
    given = R.call_packed("some", ty_args=(R.Tensor(ndim=1, dtype="float32"),))
    cast = R.match_cast(given, R.Tensor((m,), "float32"))
    alloc = R.memory.alloc_tensor(s, {at}, {shape}, "float32")
    return alloc

@R.function(pure=False)
def main(shape: R.Shape(ndim=1), at: R.Prim("int64"), x: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    y = Module.inner(s, shape, at, x)
    return y
"""


@pytest.mark.parametrize(
    ("at", "shape", "said"),
    [
        ("0", "R.shape([n])", "always-fine"),
        ("4", "R.shape([n])", UNSAID),
        # Neither what is passed nor what a function makes of it tells the size.
        ("0", "shape", UNSAID),
        ("at", "R.shape([n])", UNSAID),
        # What a packed function returns is of a size that no call passes.
        ("0", "R.shape([m])", UNSAID),
    ],
)
def test_what_a_call_passes_decides_where_it_is_known(at: str, shape: str, said: str) -> None:
    (found,) = checks(parse(PASSED.format(at=at, shape=shape)), "RLX101")
    assert found.verdict.value == said
