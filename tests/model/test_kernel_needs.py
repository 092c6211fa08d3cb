"""When all that a kernel loads from a buffer of its own was stored before: random kernels, which Python carries out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from textwrap import indent
from types import SimpleNamespace
from typing import Any

import pytest
import tvm

from relax_lint.model.kernel_access.initialised import MAX_STORES, Needs, needs_of
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.prim_funcs import read_kernel

HEAD = """\
@T.prim_func(private=True)
def f(x_: T.handle, y_: T.handle):
    n = T.int32()
    x = T.match_buffer(x_, (n,), "float32")
    y = T.match_buffer(y_, (8,), "float32")
"""
ALLOCATED = 's = T.alloc_buffer((8,), "float32")\n'
SIZES = range(6)
CASES = 170


class Writer:
    """A random body: stores to `s`, loads from it, loops and branches."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.loops = 0
        self.used = ["0"]
        self.outer = chance.choice((0, 0, 0, 1))
        """How many loops are around the allocation."""
        variables = ("i",) * self.outer
        body = ALLOCATED + self.block(2, variables) + self.block(1, variables)
        self.text = f"for i in range(n):\n{indent(body, '    ')}" if self.outer else body

    def index(self, variables: tuple[str, ...]) -> str:
        if self.chance.random() < 0.4:
            return self.chance.choice(self.used)
        return self.chance.choice(("0", "0", "1", *variables, *variables, *(f"{v} + 1" for v in variables)))

    def condition(self, variables: tuple[str, ...]) -> str:
        if variables and self.chance.random() < 0.6:
            return f"{self.chance.choice(variables)} == 0"
        more = (f"{v} {rest}" for v in variables for rest in ("< 2", "== 1", "== n - 1"))
        return self.chance.choice((*more, "n > 2", "x[0] > T.float32(0)"))

    def block(self, depth: int, variables: tuple[str, ...]) -> str:
        """Some statements; what variables of theirs were called is not used behind them."""
        before = [*self.used]
        found = "".join(self.statement(depth, variables) for _ in range(self.chance.choice((1, 2, 2))))
        self.used = [one for one in self.used if one in before or not set(one) & set("j")] or before
        return found

    def statement(self, depth: int, variables: tuple[str, ...]) -> str:
        kind = self.chance.choice(("store", "store", "load", *("for", "for", "if", "if") * bool(depth)))
        if kind == "store":
            index = self.index(variables)
            self.used.append(index)
            return f"s[{index}] = T.float32(1)\n"
        if kind == "load":
            return f"y[0] = s[{self.index(variables)}]\n"
        if kind == "for":
            self.loops += 1
            name = f"j{self.loops}"
            steps = ("range(n)", "range(n)", "range(3)", "range(1, 4)", "T.unroll(3)", "T.parallel(3)")
            inner = self.block(depth - 1, (*variables, name))
            return f"for {name} in {self.chance.choice(steps)}:\n{indent(inner, '    ')}"
        found = f"if {self.condition(variables)}:\n{indent(self.block(depth - 1, variables), '    ')}"
        if self.chance.random() < 0.5:
            found += f"else:\n{indent(self.block(depth - 1, variables), '    ')}"
        return found


class Memory:
    """Tells whether something is loaded that was not stored."""

    def __init__(self, told: list[int]) -> None:
        self._told = told
        self._stored: set[int] = set()

    def __getitem__(self, index: int) -> int:
        if index not in self._stored:
            self._told.append(index)
        return 0

    def __setitem__(self, index: int, value: Any) -> None:
        self._stored.add(index)


def reads_unwritten(text: str, n: int) -> bool:
    """Whether some run does; the steps of a parallel loop are made in either order."""
    found: list[int] = []
    for data, order in ((0, 1), (1, 1), (0, -1), (1, -1)):
        tools = SimpleNamespace(
            float32=int,
            unroll=range,
            parallel=lambda extent, order=order: range(extent)[::order],
            alloc_buffer=lambda *_: Memory(found),
        )
        exec(text, {"T": tools, "n": n, "x": [data], "y": [0]})
    return bool(found)


def needs(writer: Writer) -> tuple[Any, Needs | None]:
    """The sizes of the kernel, and what its loads need."""
    source = HEAD + indent(writer.text, "    ")
    found = read_kernel("f", tvm.script.from_source(source, check_well_formed=False)).accesses
    root = next(one.buffer.root for one in found.accesses if one.buffer.name == "s")
    return found.terms, needs_of(found.terms, found.accesses, root, writer.outer)


def holds(polynomials: Iterable[Poly], n: int) -> bool:
    """Whether none is negative; they are about `n` alone."""
    return all(sum(c * n ** len(m) for m, c in p.terms.items()) >= 0 for p in polynomials)


def kernels(chance: random.Random) -> Iterator[Writer]:
    while True:
        writer = Writer(chance)
        if "= s[" in writer.text and (chance.random() < 0.1 or not reads_unwritten(writer.text, SIZES[-1])):
            yield writer


def test_what_loads_need_is_enough_for_them_to_see_what_was_stored() -> None:
    seen: Counter[str] = Counter()
    chance = random.Random(9)
    for writer, _ in zip(kernels(chance), range(CASES), strict=False):
        _, found = needs(writer)
        is_right = [not reads_unwritten(writer.text, n) for n in SIZES]
        if found is None:
            seen["not known"] += all(is_right)
            continue
        needed = (*found.steps, *found.reductions)
        for n, right in zip(SIZES, is_right, strict=True):
            assert right or not holds(needed, n), (writer.text, n)
        seen["always"] += not needed
        seen["steps"] += bool(found.steps)
        seen["reductions"] += bool(found.reductions)
    # More may become known, less may not.
    assert seen["always"] >= 99
    assert seen["steps"] >= 4
    assert seen["not known"] <= 18


FIRST = "for k in range(n):\n    if k == 0:\n        s[0] = T.float32(1)\n"


@pytest.mark.parametrize(
    ("body", "steps", "reductions"),
    [
        (f"{FIRST}    y[0] = s[0]\n", 0, 0),
        (f"{FIRST}y[0] = s[0]\n", 0, 1),
        ("for k in range(n):\n    s[0] = T.float32(1)\ny[0] = s[0]\n", 1, 0),
        ("for k in range(3):\n    s[0] = T.float32(1)\ny[0] = s[0]\n", 0, 0),
        ("for k in range(n):\n    s[k] = T.float32(1)\nfor k in range(n):\n    y[0] = s[k]\n", 0, 0),
        (f"for i in range(2):\n{indent(FIRST, '    ')}y[0] = s[0]\n", 0, 1),
    ],
)
def test_a_reduction_that_must_have_a_step_is_told_apart(body: str, steps: int, reductions: int) -> None:
    writer = Writer(random.Random(0))
    writer.text, writer.outer = ALLOCATED + body, 0
    _, found = needs(writer)
    assert found is not None
    assert (len(found.steps), len(found.reductions)) == (steps, reductions)
    for n in SIZES:
        assert holds((*found.steps, *found.reductions), n) is not reads_unwritten(writer.text, n)


WHILE = "while x[0] > T.float32(0):\n    {}"
DATA = 'T.Cast("int32", x[0])'


@pytest.mark.parametrize(
    ("body", "known"),
    [
        # Nobody knows how often, or how far, such a loop goes.
        (WHILE.format("s[0] = T.float32(1)\n") + "y[0] = s[0]\n", False),
        (WHILE.format("s[0] = T.float32(1)\n    y[0] = s[0]\n"), True),
        ("s[0] = T.float32(1)\n" + WHILE.format("y[0] = s[0]\n"), True),
        (WHILE.format("for j in range(8):\n        s[j] = T.float32(1)\n    y[0] = s[3]\n"), True),
        (f"for j in range({DATA}):\n    s[j] = T.float32(1)\ny[0] = s[0]\n", False),
        (f"for j in range(8 // {DATA}):\n    s[j] = T.float32(1)\ny[0] = s[0]\n", False),
        (f"for j in range({DATA}, 9):\n    s[j] = T.float32(1)\ny[0] = s[8]\n", False),
        (f"for j in range(9 // {DATA}, 9):\n    s[j] = T.float32(1)\ny[0] = s[8]\n", False),
        # An index that cannot be read.
        (f"s[8 // {DATA}] = T.float32(1)\ny[0] = s[0]\n", False),
        (f"s[0] = T.float32(1)\ny[0] = s[8 // {DATA}]\n", False),
        ("for j in range(8):\n    s[j] = T.float32(1)\n" + f"y[0] = s[T.max(T.min({DATA}, 7), 0)]\n", True),
        # What holds in the first step of a loop, in one that goes in any order, and of other loops.
        ("for i in range(3):\n    if i == 0:\n        s[0] = T.float32(1)\n    y[0] = s[0]\n", True),
        ("for i in T.parallel(3):\n    if i == 0:\n        s[0] = T.float32(1)\n    y[0] = s[0]\n", False),
        ("for i in T.vectorized(3):\n    if i == 0:\n        s[0] = T.float32(1)\n    y[0] = s[0]\n", False),
        ("for i in T.unroll(3):\n    if i == 0:\n        s[0] = T.float32(1)\n    y[0] = s[0]\n", True),
        (
            "for i in range(3):\n    if x[0] > T.float32(0):\n        if i == 0:\n            s[0] = T.float32(1)\n"
            "    y[0] = s[0]\n",
            False,
        ),
        # What data decides may be so in one step and not in another.
        (
            "for i in range(3):\n    if x[0] > T.float32(0):\n        if i == 0:\n            s[0] = T.float32(1)\n"
            "        y[0] = s[0]\n",
            False,
        ),
        (
            "for i, j in T.grid(3, 3):\n    if i == 0 and j == 0:\n        s[0] = T.float32(1)\n    y[0] = s[0]\n",
            True,
        ),
        ("for i in range(3):\n    if i == 0:\n        s[i] = T.float32(1)\n    y[0] = s[0]\n", False),
        (
            "for i in range(3):\n    if i < n:\n        if i == 0:\n            s[0] = T.float32(1)\n    y[0] = s[0]\n",
            False,
        ),
        # Both ways of a branch, and one of them twice.
        ("if n > 2:\n    s[0] = T.float32(1)\nelse:\n    s[0] = T.float32(2)\ny[0] = s[0]\n", True),
        ("if n > 2:\n    s[0] = T.float32(1)\nelse:\n    s[1] = T.float32(2)\ny[0] = s[0]\n", False),
        ("if n > 2:\n    s[0] = T.float32(1)\nif n > 2:\n    s[0] = T.float32(2)\ny[0] = s[0]\n", False),
        (
            "if n > 2:\n    for j in range(n):\n        s[0] = T.float32(1)\nelse:\n    s[0] = T.float32(2)\n"
            "y[0] = s[0]\n",
            False,
        ),
        ("if n > 2:\n    s[0] = T.float32(1)\nif n > 2:\n    y[0] = s[0]\n", True),
        ("y[0] = s[0]\ns[0] = T.float32(1)\n", False),
        ("s[0] = s[0] + T.float32(1)\n", False),
    ],
)
def test_what_is_known_of_a_store_before_a_load(body: str, known: bool) -> None:
    writer = Writer(random.Random(0))
    writer.text, writer.outer = ALLOCATED + body, 0
    assert (needs(writer)[1] is not None) is known


ENDS = (0, 2, 5, 8)


@pytest.mark.parametrize("loads", ["s[{0}]", "s[{0} + k]"])
def test_a_loop_stores_from_its_first_number_to_its_last(loads: str) -> None:
    """One element, or three behind each other, against what the loop has stored."""
    for first, last, index in product(ENDS, ENDS, range(6)):
        if first < last:
            read = f"for k in range(3):\n    y[0] = {loads.format(index)}\n"
            writer = Writer(random.Random(0))
            writer.text = f"{ALLOCATED}for j in range({first}, {last}):\n    s[j] = T.float32(1)\n{read}"
            writer.outer = 0
            known = needs(writer)[1] is not None
            assert known is not reads_unwritten(writer.text, 0), (first, last, index)


@pytest.mark.parametrize(("more", "known"), [(0, True), (1, False)])
def test_of_many_stores_nothing_is_known(more: int, known: bool) -> None:
    writer = Writer(random.Random(0))
    stores = "s[0] = T.float32(1)\n" * (MAX_STORES + more)
    writer.text, writer.outer = f"{ALLOCATED}{stores}y[0] = s[0]\n", 0
    assert (needs(writer)[1] is not None) is known
