"""Which operations go together, against every way through the branches of a function; and the order of callees."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, product

import pytest

from relax_lint.analysis.components import components
from relax_lint.analysis.paths import Paths
from relax_lint.model.builder import build_program
from relax_lint.model.operations import Block, If, Op
from relax_lint.model.program import Function
from tests.rules.checking import parse

HEAD = """
@R.function
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
"""


def lines(chance: random.Random, indent: str, depth: int, names: Iterator[int]) -> Iterator[str]:
    """Names of `x`, and branches; the last line is one of the former."""
    for _ in range(chance.choice((1, 2))):
        if depth and chance.random() < 0.7:
            yield f"{indent}if c:\n"
            yield from lines(chance, indent + "    ", depth - 1, names)
            result = next(names)
            yield f"{indent}    w{result} = x\n{indent}else:\n"
            yield from lines(chance, indent + "    ", depth - 1, names)
            yield f"{indent}    w{result} = x\n"
        else:
            yield f"{indent}a{next(names)} = x\n"


def function(seed: int) -> Function:
    body = "".join(lines(random.Random(seed), "    ", 3, iter(range(100))))
    (found,) = build_program(parse(f"{HEAD}{body}    return x\n")).functions
    return found


def executed(block: Block, taken: dict[int, bool]) -> Iterator[Op]:
    for op in block.ops:
        yield op
        if isinstance(op, If):
            yield from executed(op.then_block if taken[op.place.index] else op.else_block, taken)


@pytest.mark.parametrize("seed", [1, 3, 4, 6, 7])
def test_operations_go_together_on_every_way_or_on_none(seed: int) -> None:
    found = function(seed)
    paths, ops, chance = Paths(found), list(found.body.walk()), random.Random(seed)
    branches = [op.place.index for op in found.body.of(If)]
    ways = []
    for choice in product((False, True), repeat=len(branches)):
        taken = dict(zip(branches, choice, strict=True))
        ways.append({op.place.index for op in executed(found.body, taken)})
    assert len(branches) > 1
    for one, other in product(ops, repeat=2):
        mine, its = one.place.index, other.place.index
        assert paths.always_with(one, other) == all(mine in way for way in ways if its in way)
        assert paths.never_with(one, other) == (not any({mine, its} <= way for way in ways))
        assert paths.always_with(one, None) == all(mine in way for way in ways)
        assert paths.always_with(None, one)
    groups = [*combinations(ops, 2), *(chance.sample(ops, min(len(ops), 4)) for _ in range(60))]
    for several, last in product(groups, [*chance.sample(ops, 3), None]):
        numbers = {op.place.index for op in several}
        reached = ways if last is None else [way for way in ways if last.place.index in way]
        assert paths.one_always_with(several, last) == all(not numbers.isdisjoint(way) for way in reached)


@pytest.mark.parametrize("seed", range(4))
def test_callees_come_first_and_those_that_call_each_other_together(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(40):
        size = chance.randint(1, 7)
        calls = {
            one: [chance.randrange(size) for _ in range(chance.choice((0, 1, 1, 2, 3)))]
            for one in range(size)
        }
        reach = {one: {one} for one in calls}
        for _ in calls:
            for one, more in reach.items():
                more.update(*(reach[callee] for callee in calls[one]))
        found = components(0, calls.__getitem__)
        assert sorted(one for group in found for one in group) == sorted(reach[0])
        for place, group in enumerate(found):
            for one in group:
                assert {other for other in reach[one] if one in reach[other]} == set(group)
                before = {other for earlier in found[: place + 1] for other in earlier}
                assert set(calls[one]) <= before
