"""The starts and the strides that a kernel's buffers declare, against what the virtual machine accepts."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

STARTS = {
    "any": ("k", "j", 8, 12, True),
    "a number": ("4", None, 16, 0, True),
    "another number": ("4", None, 0, 0, False),
    "an extent": (None, "n", 0, 16, True),
    "not that extent": (None, "n", 0, 0, False),
    "one for both": ("k", "k", 8, 8, True),
    "not one for both": ("k", "k", 8, 12, False),
    "first at zero": ("k", "k", 0, 12, False),
    "one behind": ("k", "k + 1", 8, 12, True),
    "not one behind": ("k", "k + 1", 8, 8, False),
    "an expression": (None, "n * 2", 0, 32, True),
}
"""By name: the starts of both buffers in elements, those of the tensors in bytes, and whether it runs."""

STRIDES = {
    "compact": ("T.int64(2), T.int64(1)", "", 2, "a", "always-fine"),
    "gaps": ("T.int64(4), T.int64(1)", "", 2, "a", "always-wrong"),
    "gaps from outside": ("T.int64(4), T.int64(1)", "", 2, "x", "needs-runtime-check"),
    "free": ("s, t", "", 2, "a", "always-fine"),
    "one twice": ("s, s", "", 2, "a", "always-wrong"),
    "one twice, one column": ("s, s", "", 1, "a", "always-fine"),
    "a sum": ("s + 1, s", "", 2, "a", "always-fine"),
    "the other way round": ("s, t", ", strides=[t, s]", 2, "a", "always-wrong"),
    "the same way": ("s, t", ", strides=[s, t]", 2, "a", "always-fine"),
}
"""By name: the strides of the buffer that is read, those of the other one, the columns, what is given, and what
is said.
"""

_MOVE = """
@T.prim_func(private=True)
def move(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    z = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        z[i] = x[i]
"""


def _slug(name: str) -> str:
    return name.replace(" ", "_").replace(",", "")


def _tensor(name: str, offset: int) -> str:
    return (
        f'    {name}_s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))\n'
        f'    {name} = R.memory.alloc_tensor({name}_s, R.prim_value({offset}), R.shape([4]), R.dtype("float32"))\n'
    )


def _start(name: str) -> str:
    one, other, offset, offset_2, _ = STARTS[name]
    starts = ["" if start is None else f", elem_offset={start}" for start in (one, other)]
    return f"""
@T.prim_func(private=True)
def k_{_slug(name)}(a: T.handle, b: T.handle):
    n = T.int64()
    k = T.int64()
    j = T.int64()
    x = T.match_buffer(a, (n,), "float32"{starts[0]})
    z = T.match_buffer(b, (n,), "float32"{starts[1]})
    for i in range(n):
        z[i] = x[i]

@R.function(pure=False)
def {_slug(name)}(x: R.Tensor((4,), "float32")):
{_tensor("a", offset)}    w0 = Module.move(x, a)
{_tensor("b", offset_2)}    w1 = Module.k_{_slug(name)}(a, b)
{_tensor("c", 0)}    w2 = Module.move(b, c)
    return c
"""


def _stride(name: str) -> str:
    one, other, columns, given, _ = STRIDES[name]
    shape, type_ = f"(T.int64(2), T.int64({columns}))", f'R.Tensor((2, {columns}), "float32")'
    return f"""
@T.prim_func(private=True)
def k_{_slug(name)}(a: T.handle, b: T.handle):
    s = T.int64()
    t = T.int64()
    x = T.match_buffer(a, {shape}, "float32", strides=[{one}])
    z = T.match_buffer(b, {shape}, "float32"{other})
    for i, j in T.grid(T.int64(2), T.int64({columns})):
        z[i, j] = x[i, j]

@R.function(pure=False)
def {_slug(name)}(x: {type_}):
    a = R.add(x, x)
    b = R.call_tir(Module.k_{_slug(name)}, ({given},), {type_})
    return b
"""


@cache
def _module() -> Any:
    return parse(_MOVE + "".join(map(_start, STARTS)) + "".join(map(_stride, STRIDES)))


@cache
def _machine() -> Any:
    return relax.VirtualMachine(tvm.compile(_module(), "llvm"), tvm.cpu())


def _runs(name: str, x: Any) -> bool:
    """Whether a function runs; it then returns what it is given, or twice that."""
    try:
        found = _machine()[_slug(name)](tvm.runtime.tensor(x)).numpy()
    except ValueError:
        return False
    return bool((found == x).all() or (found == 2 * x).all())


@cache
def _said(code: str) -> dict[str, set[str]]:
    said: dict[str, set[str]] = {}
    for check in checks(_module(), code):
        said.setdefault(str(check.function), set()).add(check.verdict.value)
    return said


@pytest.mark.parametrize("name", STARTS)
def test_a_buffer_declares_where_its_tensor_starts(name: str) -> None:
    said, runs = _said("RLX303")[_slug(name)], STARTS[name][-1]
    assert said == {"always-fine"} if runs else "always-wrong" in said
    assert _runs(name, np.arange(4, dtype="float32")) is runs


@pytest.mark.parametrize("name", STRIDES)
def test_a_buffer_declares_the_strides_of_its_tensor(name: str) -> None:
    *_, columns, _, verdict = STRIDES[name]
    assert _said("RLX301")[_slug(name)] == {verdict}
    x = np.arange(2 * columns, dtype="float32").reshape(2, columns)
    assert _runs(name, x) is (verdict == "always-fine")
