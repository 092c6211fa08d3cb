"""RLX203: a write over a tensor that is still read stores what is there already, and the run is right."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

import pytest

from relax_lint.replay import Machine, Module, Tensor
from tests.rules.any_size import of_any_size, of_size
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
@pytest.mark.parametrize("value", ["x[i] * T.float32(2)", 'T.call_pure_extern("float32", "f", x[i])'])
def test_one_kernel_may_do_the_same_twice(argument: str, condition: str | None, value: str) -> None:
    """Also one that nobody can carry out."""
    text = OF_ANY_SIZE.replace("x[i] * T.float32(2)", value).format(argument=argument, storage="s")
    found = checks(parse(text), "RLX203")
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


def _kernel(name: str, body: str, count: int = 4) -> str:
    return f"""
@T.prim_func(private=True)
def {name}(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range({count}):
        {body}
"""


KERNELS = (
    _kernel("zeros", "y[i] = T.float32(0)")
    + _kernel("ones", "y[i] = T.float32(1)")
    + _kernel("copy", "y[i] = x[i]")
    + _kernel("twice", "y[i] = x[i] * T.float32(2)")
    + _kernel("first", "y[i] = x[i]", 2)
    + _kernel("last", "y[i + 2] = x[i]", 2)
    + """
@T.prim_func(private=True)
def two(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(2)
        z[i] = x[i] * T.float32(3)
"""
)
BEFORE = """
@R.function(pure=False)
def {name}(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")
    s1 = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
    b = R.memory.alloc_tensor({storage}, 0, R.shape([4]), "float32")
    t = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
{body}
    return y
"""
BETWEEN = """_ = Module.ones(x, a)
m = R.memory.alloc_tensor({storage}, 0, R.shape([4]), "float32")
w1 = Module.zeros(x, m)"""
# With what is said, and whether it is right where the branch is taken and where it is not.
WAYS: list[tuple[str, str, str, bool, bool]] = [
    # What is read is known: it was computed before, too, or it is a constant.
    ("_ = Module.zeros(x, t)\n_1 = Module.twice(t, a)", "zeros(x, b)", UNSURE, True, True),
    ("_ = Module.ones(x, t)\n_1 = Module.twice(t, a)", "zeros(x, b)", WRONG, False, False),
    (
        "k = R.call_tir(Module.zeros, (x,), R.Tensor((4,), 'float32'))\n_1 = Module.twice(k, a)",
        "zeros(x, b)",
        UNSURE,
        True,
        True,
    ),
    (
        "k = R.const([0.0, 0.0, 0.0, 0.0], 'float32')\n_1 = Module.twice(k, a)",
        "zeros(x, b)",
        UNSURE,
        True,
        True,
    ),
    (
        "k = R.const([0.0, 0.0, 0.0, 1.0], 'float32')\n_1 = Module.twice(k, a)",
        "zeros(x, b)",
        WRONG,
        False,
        False,
    ),
    ("_ = Module.copy(x, t)\n_1 = Module.twice(x, a)", "twice(t, b)", UNSURE, True, True),
    ("_ = Module.twice(x, t)\n_1 = Module.copy(t, a)", "twice(x, b)", UNSURE, True, True),
    # It is another one by now, or the same again.
    (
        "_ = Module.copy(x, t)\n_1 = Module.twice(t, a)\n_2 = Module.ones(x, t)",
        "twice(t, b)",
        WRONG,
        False,
        False,
    ),
    (
        "_ = Module.copy(x, t)\n_1 = Module.twice(t, a)\n_2 = Module.copy(x, t)",
        "twice(t, b)",
        UNSURE,
        True,
        True,
    ),
    # One part of it is written again.
    ("_ = Module.first(x, a)\n_1 = Module.last(x, a)", "first(x, b)", UNSURE, True, True),
    ("_ = Module.first(x, a)\n_1 = Module.last(x, a)", "first(a, b)", "always-fine", True, True),
    ("_ = Module.ones(x, a)\n_1 = Module.last(x, a)", "first(x, b)", UNSURE, False, False),
    # Another result of the same kernel.
    ("_ = Module.two(x, a, t)", "two(x, b, t)", UNSURE, True, True),
    ("_ = Module.two(x, a, t)", "two(x, t, b)", WRONG, False, False),
    # Another write comes in between, and one that stores what was there.
    (BETWEEN, "ones(x, b)", UNSURE, True, True),
    (BETWEEN, "copy(x, b)", WRONG, False, False),
    # One of two branches did the same.
    (
        "if c:\n    _ = Module.twice(x, a)\n    d = x\nelse:\n    _1 = Module.ones(x, a)\n    d = x",
        "twice(x, b)",
        UNSURE,
        True,
        False,
    ),
    (
        "_ = Module.ones(x, a)\nif c:\n    _1 = Module.twice(x, a)\n    d = x\nelse:\n    d = x",
        "ones(x, b)",
        UNSURE,
        False,
        True,
    ),
    (
        "if c:\n    _ = Module.zeros(x, a)\n    d = x\nelse:\n    _1 = Module.ones(x, a)\n    d = x",
        "twice(x, b)",
        WRONG,
        False,
        False,
    ),
]


def _ways(way: str, write: str, storage: str, name: str = "main") -> str:
    # What holds nothing on a storage of its own is not compared.
    body = indent(f"{way.replace('{storage}', storage)}\nw1 = Module.{write}\ny = R.add(a, a)", "    ")
    return BEFORE.format(storage=storage, body=body, name=name)


def test_what_was_computed_before_is_known() -> None:
    for way, write, said, _, _ in WAYS:
        found = checks(parse(KERNELS + _ways(way, write, "s")), "RLX203")
        told = {check.verdict.value for check in found if check.binding == "w1"}
        assert told == {said}, (way, write)


def _functions(storages: tuple[str, ...]) -> str:
    functions = [
        _ways(way, write, storage, f"main{number}_{storage}")
        for number, (way, write, *_) in enumerate(WAYS)
        for storage in storages
        if "[0.0, 0.0" not in way
    ]
    return KERNELS + "".join(functions)


@pytest.mark.parametrize("resized", [of_size(1_000), of_any_size], ids=("1000", "n"))
def test_that_is_known_of_other_sizes(resized: Callable[[str], str]) -> None:
    found = checks(parse(resized(_functions(("s",)))), "RLX203")
    assert found
    for check in found:
        if check.binding == "w1":
            assert check.function is not None
            way, write, said, _, _ = WAYS[int(check.function[4:-2])]
            # Without elements all is right.
            told = WRONG if check.safe_when == "n <= 0" else check.verdict.value
            assert told == said, (way, write)


@pytest.mark.vm
@pytest.mark.parametrize("resized", [of_size(1_000), of_any_size], ids=("1000", "n"))
def test_the_machine_computes_that_of_other_sizes(resized: Callable[[str], str]) -> None:
    module = Module(HEAD + indent(resized(_functions(("s", "s1"))), "    "))
    with Machine() as machine:
        for number, (way, write, _, *right) in enumerate(WAYS):
            for taken, is_right in zip((1, 0), right, strict=True):
                if "[0.0, 0.0" in way:
                    continue
                inputs = [Tensor("float32", (1_000,)), Tensor("bool", (), taken)]
                one, other = (machine.run(module, f"main{number}_{s}", inputs).digest for s in ("s", "s1"))
                assert (one == other) is is_right, (way, write, taken)


@pytest.mark.vm
def test_the_machine_computes_it_either_way() -> None:
    names = [(f"shared{number}", f"apart{number}") for number in range(len(WAYS))]
    functions = [
        _ways(way, write, "s", shared) + _ways(way, write, "s1", apart)
        for (way, write, *_), (shared, apart) in zip(WAYS, names, strict=True)
    ]
    module = Module(HEAD + indent("".join((KERNELS, *functions)), "    "))
    with Machine() as machine:
        for (way, write, _, *right), pair in zip(WAYS, names, strict=True):
            for taken, is_right in zip((1, 0), right, strict=True):
                inputs = [Tensor("float32", (4,)), Tensor("bool", (), taken)]
                one, other = (machine.run(module, name, inputs).digest for name in pair)
                assert (one == other) is is_right, (way, write, taken)


@pytest.mark.vm
def test_the_machine_says_which() -> None:
    """On one storage it computes the same as on two, or not: the first and the second of two inputs differ."""
    with Machine() as machine:
        for one, other, argument, dtype, said in CASES[:8]:
            inputs = [Tensor(dtype, (4,)), Tensor(dtype, (4,), 5)]
            texts = [HEAD + indent(_program(one, other, argument, s, dtype), "    ") for s in ("s", "s1")]
            shared, apart = (machine.run(Module(text), "main", inputs).digest for text in texts)
            assert (shared == apart) is (said != WRONG), (one, other, argument)
