"""Stores of which nobody can read anything, in any order of some statements: against carrying them out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import pytest
import tvm

from relax_lint.model.kernel_body.stored_anew import stored_anew
from relax_lint.vm import nodes

INDICES = ("0", "1", "i", "j", "i + 1")
MEMORY = {"x": "one", "z": "one", "y": "other"}
"""`z` is another name of the memory of `x`."""


@cache
def statements() -> tuple[Any, ...]:
    """Every store of nothing loaded, some of what is loaded from either memory, and what is no store."""
    stores = [f"{buffer}[{at}] = 5" for buffer in "xyz" for at in INDICES]
    loads = [f"{buffer}[{at}]" for buffer in "xyz" for at in INDICES]
    copies = [f"{'xyz'[n % 3]}[{INDICES[n % 4]}] = {load}" for n, load in enumerate(loads)]
    looked = [f"y[{load}] = 1" for load in loads[::2]]
    rest = ["T.evaluate(x[0])", 'y[0] = T.call_extern("int32", "g", x.data)']
    lines = "\n".join(f"    {line}" for line in (*stores, *copies, *looked, *rest))
    parameters = ", ".join(f'{name}: T.Buffer((4,), "int32")' for name in "xyz")
    header = "@T.prim_func(private=True, s_tir=True)\ndef f"
    text = f"{header}({parameters}, i: T.int32, j: T.int32):\n{lines}\n"
    body = tvm.script.from_source(text, check_well_formed=False).body
    return next(tuple(node.seq) for node in nodes.nodes_of(body) if type(node).__name__ == "SeqStmt")


def _memory(buffer: Any) -> str:
    return MEMORY[str(getattr(buffer, "name", buffer))]


def _elements(index: Any) -> set[tuple[int, int, int]]:
    """The index for each pair of values of the variables; what is loaded may be anything."""
    if not nodes.only_computes(index) or any(map(nodes.is_load, nodes.nodes_of(index))):
        return {(i, j, at) for i, j, at in product(range(3), range(3), range(4))}
    return {(i, j, eval(str(index), {"i": i, "j": j})) for i, j in product(range(3), repeat=2)}


def _reads(statement: Any, store: Any) -> bool:
    """Whether it may load what a store has stored."""
    if type(statement).__name__ != "BufferStore":
        return True
    parts = (statement.value, *statement.indices)
    if not all(map(nodes.only_computes, parts)):
        return True
    loads = [node for part in parts for node in nodes.nodes_of(part) if nodes.is_load(node)]
    return any(
        _memory(nodes.loaded_buffer(load)) == _memory(store.buffer)
        and not _elements(load.indices[0]).isdisjoint(_elements(store.indices[0]))
        for load in loads
    )


def _expected(order: Sequence[Any]) -> tuple[set[int], set[int]]:
    """Those that may be found, and those that must be: where loads are of this buffer and indices numbers."""
    may, must = set(), set()
    for number, store in enumerate(order):
        if type(store).__name__ != "BufferStore":
            continue
        for later in order[number + 1 :]:
            if _reads(later, store):
                break
            if later.buffer.same_as(store.buffer) and str(later.indices) == str(store.indices):
                may.add(number)
                if all(_is_plain(between, store) for between in order[number + 1 :]):
                    must.add(number)
                break
    return may, must


def _is_plain(statement: Any, store: Any) -> bool:
    loads = [node for node in nodes.nodes_of(statement) if nodes.is_load(node)]
    numbers = all(nodes.is_kernel_constant(one.indices[0]) for one in (*loads, store))
    same = all(
        (buffer := nodes.loaded_buffer(one)).same_as(store.buffer) or _memory(buffer) != _memory(store.buffer)
        for one in loads
    )
    return type(statement).__name__ == "BufferStore" and (not loads or (numbers and same))


@pytest.mark.parametrize("seed", range(8))
def test_stores_of_which_nothing_is_read(seed: int) -> None:
    chance, counts = random.Random(seed), [0, 0]
    pool = statements()
    # Those that have numbers for indices.
    plain = [one for one in pool if "[i" not in str(one) and "[j" not in str(one)]
    for _ in range(60):
        among = chance.choice((pool, plain))
        some = chance.sample(range(len(among)), 4)
        order = [among[chance.choice(some)] for _ in range(chance.randint(2, 6))]
        found = stored_anew(order, _memory)
        may, must = _expected(order)
        assert must <= found <= may, "\n".join(map(str, order))
        counts = [counts[0] + len(must), counts[1] + len(may)]
    assert 5 < counts[0] < counts[1]
