"""RLX203 where parts are overwritten, written again or rewritten with what they hold: by the bytes of each part."""

from __future__ import annotations

from itertools import product
from typing import TypeAlias

import pytest

from tests.rules.checking import checks, parse

EIGHT, ONE = 'T.Buffer((8,), "float32", offset_factor=1)', 'R.Tensor((8,), "float32")'
MODULE = f"""
@T.prim_func(private=True, s_tir=True)
def fill(b: T.handle):
    n = T.int64()
    q = T.match_buffer(b, (n,), "float32", offset_factor=1)
    for i in range(n):
        q[i] = T.Cast("float32", i)

@T.prim_func(private=True, s_tir=True)
def copy(x: {EIGHT}, y: {EIGHT}):
    for i in range(8):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def copy_and_fill(x: {EIGHT}, y: {EIGHT}, z: {EIGHT}):
    for i in range(8):
        y[i] = x[i]
    for i in range(8):
        z[i] = T.float32(7)

@T.prim_func(private=True, s_tir=True)
def copy_both(x: {EIGHT}, y: {EIGHT}, u: {EIGHT}, v: {EIGHT}):
    for i in range(8):
        y[i] = x[i]
        v[i] = u[i]

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), g: R.Tensor((), "bool"), o: {ONE}):
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([n * 64 + 256]), 0, "global", "uint8")
    t = R.memory.alloc_storage(R.shape([256]), 0, "global", "uint8")
    w = R.memory.alloc_tensor(s, 0, R.shape([8]), "float32")
    c = R.memory.alloc_tensor(t, 0, R.shape([8]), "float32")
    _0 = Module.fill(w)
    _1 = Module.copy(o, c)
{{lines}}
    return o
"""
Part: TypeAlias = "tuple[int, int]"


def verdicts(*lines: str) -> list[str]:
    """What is said of writes over `w` and `c`."""
    body = "\n".join(f"    {line}" for line in lines)
    return [check.verdict.value for check in checks(parse(MODULE.format(lines=body)), "RLX203")]


def tensor(name: str, part: Part, storage: str = "s") -> str:
    """A tensor on a storage, from a byte on."""
    return f'{name} = R.memory.alloc_tensor({storage}, {part[0]}, R.shape([{part[1]}]), "float32")'


def view(name: str, part: Part) -> str:
    """A part of `w`."""
    return f'{name} = R.memory.view(w, R.shape([{part[1]}]), "float32", {part[0]})'


def elements(part: Part) -> set[int]:
    """The bytes of a part, as elements."""
    return set(range(part[0] // 4, part[0] // 4 + part[1]))


READ = '_9 = R.print(u, format="")'
OVER: list[Part] = [(0, 8), (0, 2), (16, 4)]
AGAIN: list[Part] = [(0, 4), (8, 4), (16, 4), (8, 2)]
READS: list[Part] = [(0, 2), (8, 2), (16, 4), (8, 4)]


@pytest.mark.parametrize("over", OVER)
def test_what_is_written_again_may_be_read(over: Part) -> None:
    for again, read in product(AGAIN, READS):
        lines = (tensor("b", over), "_2 = Module.fill(b)", view("v", again), "_3 = Module.fill(v)")
        (found,) = verdicts(*lines, view("u", read), READ)
        left = elements(read).isdisjoint(elements(over)) or elements(read) <= elements(again)
        assert found == ("always-fine" if left else "needs-runtime-check"), (again, read)


SAME = (tensor("b", (0, 8)), tensor("d", (0, 8), "t"), tensor("b4", (4, 8)))
"""Tensors on the bytes of `w`, on those of `c`, and one element further."""
REWRITTEN = {
    "in its place": ("_2 = Module.copy(w, b)", "wc"),
    "one element on": ("_2 = Module.copy(w, b4)", "c"),
    "with another one": ("_2 = Module.copy(c, b)", "c"),
    "and filled then": ("_2 = Module.copy_and_fill(w, b, b)", "c"),
    "beside what is filled": ("_2 = Module.copy_and_fill(w, b, d)", "w"),
    "elsewhere, and filled": ("_2 = Module.copy_and_fill(w, d, b)", ""),
    "both in their places": ("_2 = Module.copy_both(w, b, c, d)", "wc"),
    "each in the place of the other": ("_2 = Module.copy_both(w, d, c, b)", ""),
    "one in both places": ("_2 = Module.copy_both(w, b, w, d)", "w"),
    "both in one place": ("_2 = Module.copy_both(w, b, c, b)", "c"),
    "beside a new tensor": (
        f"q = R.call_tir_inplace(Module.copy_both, (w, b, c), [1, -1], [{ONE}, {ONE}])",
        "wc",
    ),
}


@pytest.mark.parametrize("how", REWRITTEN)
def test_what_is_rewritten_with_what_it_holds_may_be_read(how: str) -> None:
    line, kept = REWRITTEN[how]
    for name in "wc":
        found = verdicts(*SAME, line, READ.replace("u,", f"{name},"))
        expected = set() if name in kept else {"always-wrong"}
        assert {verdict for verdict in found if verdict != "always-fine"} == expected, name
