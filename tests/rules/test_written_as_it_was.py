"""RLX203: a write over a tensor that is still read stores what is there already, and the run is right."""

from __future__ import annotations

from textwrap import indent

import pytest

from relax_lint.replay import Machine, Module, Tensor
from tests.rules.checking import checks, parse

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
PROGRAM = """
@T.prim_func(private=True)
def one(x: T.Buffer((4,), "{dtype}"), y: T.Buffer((4,), "{dtype}")):
    for i in range(4):
        y[i] = {one}

@T.prim_func(private=True)
def other(x: T.Buffer((4,), "{dtype}"), y: T.Buffer((4,), "{dtype}")):
    for i in range(4):
        y[i] = {other}

@R.function(pure=False)
def main(x: R.Tensor((4,), "{dtype}"), z: R.Tensor((4,), "{dtype}")):
    {first}
    b = R.memory.alloc_tensor({storage}, 0, R.shape([4]), "{dtype}")
    w = Module.one(x, a)
    w1 = Module.other({argument}, b)
    y = R.add(a, b)
    return y
"""
FIRST = """s = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")
    s1 = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(s, 0, R.shape([4]), "{dtype}")"""
WRONG, UNSURE = "always-wrong", "needs-runtime-check"
ZERO, TWICE, SUM = "T.float32(0)", "x[i] * T.float32(2)", "x[i] + x[i]"


def _program(one: str, other: str, argument: str = "x", storage: str = "s", dtype: str = "float32") -> str:
    first = FIRST.format(dtype=dtype)
    return PROGRAM.format(one=one, other=other, argument=argument, storage=storage, dtype=dtype, first=first)


CASES = [
    (ZERO, ZERO, "x", "float32", UNSURE),
    (ZERO, "T.float32(1)", "x", "float32", WRONG),
    (TWICE, TWICE, "x", "float32", UNSURE),
    (TWICE, SUM, "x", "float32", UNSURE),
    (TWICE, TWICE, "z", "float32", WRONG),
    # Of the tensor itself.
    (TWICE, "x[i]", "a", "float32", "always-fine"),
    (TWICE, TWICE, "a", "float32", WRONG),
    (ZERO, TWICE, "a", "float32", UNSURE),
    ("T.int32(3)", "T.int32(3)", "x", "int32", UNSURE),
    ("T.int32(3)", "T.int32(4)", "x", "int32", WRONG),
]


@pytest.mark.parametrize(("one", "other", "argument", "dtype", "said"), CASES)
def test_what_is_there_may_be_written_again(
    one: str, other: str, argument: str, dtype: str, said: str
) -> None:
    found = checks(parse(_program(one, other, argument, dtype=dtype)), "RLX203")
    assert [check.verdict.value for check in found if check.binding == "w1"] == [said]


OF_ANY_SIZE = """
@T.prim_func(private=True, s_tir=True)
def twice(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        y[i] = x[i] * T.float32(2)

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), z: R.Tensor(("n",), "float32")):
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([n * 4]), 0, "global", "uint8")
    s1 = R.memory.alloc_storage(R.shape([n * 4]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
    b = R.memory.alloc_tensor({storage}, 0, R.shape([n]), "float32")
    w = Module.twice(x, a)
    w1 = Module.twice({argument}, b)
    y = R.add(a, b)
    return y
"""


@pytest.mark.parametrize(("argument", "condition"), [("x", None), ("z", "n <= 0")])
def test_one_kernel_may_do_the_same_twice(argument: str, condition: str | None) -> None:
    found = checks(parse(OF_ANY_SIZE.format(argument=argument, storage="s")), "RLX203")
    assert [(one.verdict.value, one.safe_when) for one in found if one.binding == "w1"] == [
        (UNSURE, condition)
    ]


@pytest.mark.vm
@pytest.mark.parametrize(("argument", "is_right"), [("x", True), ("z", False)])
def test_the_machine_computes_that(argument: str, *, is_right: bool) -> None:
    with Machine() as machine:
        inputs = [Tensor("float32", (40,)), Tensor("float32", (40,), 5)]
        texts = [HEAD + indent(OF_ANY_SIZE.format(argument=argument, storage=s), "    ") for s in ("s", "s1")]
        shared, apart = (machine.run(Module(text), "main", inputs).digest for text in texts)
        assert (shared == apart) is is_right


@pytest.mark.vm
def test_the_machine_says_which() -> None:
    """On one storage it computes the same as on two, or not: the first and the second of two inputs differ."""
    with Machine() as machine:
        for one, other, argument, dtype, said in CASES[:8]:
            inputs = [Tensor(dtype, (4,)), Tensor(dtype, (4,), 5)]
            texts = [HEAD + indent(_program(one, other, argument, s, dtype), "    ") for s in ("s", "s1")]
            shared, apart = (machine.run(Module(text), "main", inputs).digest for text in texts)
            assert (shared == apart) is (said != WRONG), (one, other, argument)
