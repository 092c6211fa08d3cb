"""RLX205 and RLX203 where several kernels write a part each: what they have written together may be read."""

from __future__ import annotations

from random import Random
from textwrap import indent
from typing import TypeAlias

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

COUNT = 8
Part: TypeAlias = "tuple[int, int]"
WRITE = """
@T.prim_func(private=True)
def write_{0}_{1}(y: T.Buffer((8,), "float32")):
    for i in range({0}, {1}):
        y[i] = T.float32(1)
"""
READ = """
@T.prim_func(private=True)
def read_{0}_{1}(y: T.Buffer((8,), "float32"), o: T.Buffer((8,), "float32")):
    for i in range(8):
        o[i] = T.float32(1)
    for i in range({0}, {1}):
        o[i] = y[i]
"""
FUNCTION = """
@R.function(pure=False)
def main{number}():
    s = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
    y = R.memory.alloc_tensor(s, 0, R.shape([8]), "float32")
    o = R.builtin.alloc_tensor(R.shape([8]), "float32", 0)
{body}
    return o
"""


def _drawn() -> list[tuple[list[Part], Part]]:
    """What is written, in order, and what is read."""
    chance = Random(5)
    found = []
    for _ in range(60):
        parts = [tuple(sorted(chance.sample(range(COUNT + 1), 2))) for _ in range(chance.randint(2, 4))]
        written = [(a, b) for a, b in parts]
        if chance.random() < 0.6:
            # As far as they reach, or a little less.
            low, high = min(a for a, _ in written), max(b for _, b in written)
            read = (low, high)
        else:
            a, b = sorted(chance.sample(range(COUNT + 1), 2))
            read = (a, b)
        found.append((written, read))
    return found


CASES = _drawn()


def _is_right(written: list[Part], read: Part) -> bool:
    return set(range(*read)) <= {one for part in written for one in range(*part)}


def _text() -> str:
    parts = sorted({part for written, read in CASES for part in (*written, read)})
    functions = []
    for number, (written, read) in enumerate(CASES):
        lines = [f"_{at} = Module.write_{a}_{b}(y)" for at, (a, b) in enumerate(written)]
        body = "\n".join((*lines, f"r = Module.read_{read[0]}_{read[1]}(y, o)"))
        functions.append(FUNCTION.format(number=number, body=indent(body, "    ")))
    return "".join(text.format(*part) for part in parts for text in (WRITE, READ)) + "".join(functions)


def test_what_is_read_was_written_by_one_or_the_other() -> None:
    found = [one for one in checks(parse(_text()), "RLX205") if "`y`" in one.message]
    told = {one.function for one in found if one.verdict.value != "always-fine"}
    assert all(one.verdict.value != "always-wrong" for one in found)
    right = {f"main{number}" for number, case in enumerate(CASES) if _is_right(*case)}
    assert 10 < len(right) < len(CASES) - 10
    assert told == {f"main{number}" for number in range(len(CASES))} - right


@pytest.mark.vm
def test_the_machine_reads_what_was_written() -> None:
    machine = relax.VirtualMachine(relax.build(parse(_text()), "llvm"), tvm.cpu())
    for number, case in enumerate(CASES):
        result = machine[f"main{number}"]().numpy()
        assert not _is_right(*case) or np.all(result == 1), case


def rows(*kernels: str, read: str = "read", count: str = "n * 4", before: str = "") -> list[str]:
    """The verdicts on what is read of a matrix of `n` rows of four, of which kernels write a part each."""
    names = [one.split(" ", 1)[0] for one in kernels]
    bodies = {one.split(" ", 1)[0]: one.split(" ", 1)[1] for one in kernels}
    text = ""
    for name, body in bodies.items():
        text += f"""
@T.prim_func(private=True, s_tir=True)
def {name}(y_: T.handle, o_: T.handle):
    n = T.int64()
    y = T.match_buffer(y_, (n, 4), "float32")
    o = T.match_buffer(o_, (n, 4), "float32")
    {body}
"""
    calls = "\n".join(f"    _{at} = Module.{name}(y, o)" for at, name in enumerate(names))
    text += f"""
@R.function(pure=False)
def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")):
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([n * 16]), 0, "global", "uint8")
    y = R.memory.alloc_tensor(s, 0, R.shape([n, 4]), "float32")
    o = R.builtin.alloc_tensor(R.shape([n, 4]), "float32", 0)
{calls}
    return o
"""
    return [one.verdict.value for one in checks(parse(text), "RLX205") if "`y`" in one.message]


LEFT = "left for i, j in T.grid(n, 2): y[i, j] = T.float32(1)"
RIGHT = "right for i, j in T.grid(n, 2): y[i, j + 2] = T.float32(1)"
LAST = "last for i in range(n): y[i, 3] = T.float32(1)"
FIRST_ROW = "first_row for j in range(T.min(n, 1) * 4): y[0, j] = T.float32(1)"
OTHER_ROWS = "other_rows for i, j in T.grid(n - 1, 4): y[i + 1, j] = T.float32(1)"
ALL = "all_of_it for i, j in T.grid(n, 4): o[i, j] = y[i, j]"
LEFT_READ = "left_read for i, j in T.grid(n, 4): o[i, j] = y[i, j % 2]"
TWO = "two for i, j in T.grid(n, 2): o[i, j] = y[i, j] + y[i, j + 2]"
ONE = "one for i in range(n): o[i, 0] = y[i, 1]"


@pytest.mark.parametrize(
    ("kernels", "is_right"),
    [
        ((LEFT, RIGHT, ALL), True),
        ((RIGHT, LEFT, ALL), True),
        ((LEFT, LAST, ALL), False),
        ((LEFT, ONE), True),
        ((RIGHT, ONE), False),
        ((LEFT, RIGHT, TWO), True),
        ((LEFT, TWO), False),
        ((LEFT, LAST, RIGHT, TWO), True),
    ],
)
def test_columns_of_a_matrix_with_any_number_of_rows(kernels: tuple[str, ...], is_right: bool) -> None:
    found = rows(*kernels)
    assert [one for one in found if one != "always-fine"] == ([] if is_right else ["needs-runtime-check"])


PARTLY = """
@T.prim_func(private=True, s_tir=True)
def low(y_: T.handle, k: T.int64):
    n = T.int64()
    y = T.match_buffer(y_, (n,), "float32")
    for i in range(k):
        y[i] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def high(y_: T.handle, k: T.int64):
    n = T.int64()
    y = T.match_buffer(y_, (n,), "float32")
    for i in range(n - k):
        y[i + k] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def fill(y_: T.handle):
    n = T.int64()
    y = T.match_buffer(y_, (n,), "float32")
    for i in range(n):
        y[i] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def double(y_: T.handle, o_: T.handle):
    n = T.int64()
    y = T.match_buffer(y_, (n,), "float32")
    o = T.match_buffer(o_, (n,), "float32")
    for i in range(n):
        o[i] = y[i] * T.float32(2)

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), h: R.Shape(["k"]), c: R.Tensor((), "bool")):
    n = T.int64()
    k = T.int64()
    s = R.memory.alloc_storage(R.shape([n * 4]), 0, "global", "uint8")
    y = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
    o = R.builtin.alloc_tensor(R.shape([n]), "float32", 0)
{lines}
    d = Module.double(y, o)
    return o
"""
LOW, HIGH = "a = Module.low(y, R.prim_value({}))", "b = Module.high(y, R.prim_value({}))"
OVER = 'z = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")\nf = Module.fill(z)'
VIEW = 'v = R.memory.view(y, R.shape([n - 2]), "float32", 8)\nf = Module.fill(v)'
FRONT = 'v = R.memory.view(y, R.shape([2]), "float32", 0)\nf = Module.fill(v)'


def _branches(one: str, other: str) -> str:
    return f"if c:\n    {one}\n    h1 = x\nelse:\n    {other}\n    h1 = x"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        # Where `k` is outside of 0 to `n`, what is written is outside of the tensor: that is for others to say.
        ((LOW.format("k"), HIGH.format("k")), None),
        ((HIGH.format("k"), LOW.format("k")), None),
        ((LOW.format("k"), HIGH.format("k + 1")), "RLX205"),
        ((LOW.format("k + 1"), HIGH.format("k")), None),
        ((LOW.format("2"), VIEW), None),
        ((LOW.format("1"), VIEW), "RLX205"),
        ((FRONT, HIGH.format("2")), None),
        ((FRONT, HIGH.format("3")), "RLX205"),
        ((LOW.format("k"), _branches(HIGH.format("k"), HIGH.format("k - 1"))), None),
        ((LOW.format("k"), _branches(HIGH.format("k"), HIGH.format("k + 1"))), "RLX205"),
        # Another tensor is written over what was written first.
        ((LOW.format("k"), OVER, HIGH.format("k")), "RLX203"),
        ((OVER, LOW.format("k"), HIGH.format("k")), None),
    ],
)
def test_what_a_size_decides(lines: tuple[str, ...], told: str | None) -> None:
    body = indent("\n".join(lines), "    ")
    for code in ("RLX203", "RLX205"):
        found = checks(parse(PARTLY.replace("{lines}", body)), code)
        found = [one for one in found if "`y`" in one.message and one.verdict.value != "always-fine"]
        assert bool(found) is (code == told)
