"""Formulas of peaks against playing the events through, at every value of the symbol."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import sympy

from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.totals.peaks import Group, peak
from relax_lint.totals.pools import pooled
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.ranges import grows
from relax_lint.totals.walk import Allocation, Walk

N = sympy.Symbol("n", integer=True)
PAGE = 16
VALUES = range(24)
SIZES: tuple[Quantity, ...] = (0, 16, 30, 48, 64, N, 4 * N, 3 * N + 5, N + 40, 2 * N + 16)


def _walk(chance: random.Random) -> Walk:
    """Some allocations of few sizes on one or two devices, each let go later or never."""
    walk = Walk()
    sizes = chance.sample(SIZES, chance.choice((1, 2, 3)))
    alive: list[int] = []
    for _ in range(chance.randint(1, 9)):
        if alive and chance.random() < 0.45:
            walk.events.append(-alive.pop(chance.randrange(len(alive))))
        else:
            walk.allocations.append(
                Allocation(chance.choice(sizes), None, device=chance.choice((0, 0, 0, 1)))
            )
            alive.append(len(walk.allocations))
            walk.events.append(alive[-1])
    return walk


def _at(size: Quantity, n: int) -> int:
    return size if isinstance(size, int) else int(compile_expr(size, (N,))(n))


def _obtained(walk: Walk, n: int) -> int:
    """What a pool that gives nothing back obtains in all: it reuses a buffer of exactly the same pages."""
    free: Counter[tuple[int, int]] = Counter()
    obtained = 0
    for event in walk.events:
        allocation = walk.allocations[abs(event) - 1]
        key = (allocation.device, -(-_at(allocation.size, n) // PAGE) * PAGE)
        if event < 0:
            free[key] += 1
        elif free[key]:
            free[key] -= 1
        else:
            obtained += key[1]
    return obtained


def _highest(walk: Walk, n: int) -> int:
    """The most bytes that are alive at one time."""
    live = most = 0
    for event in walk.events:
        live += _at(walk.allocations[abs(event) - 1].size, n) * (1 if event > 0 else -1)
        most = max(most, live)
    return most


@pytest.mark.parametrize("paths", [1, 2])
def test_the_formulas_are_what_happens(paths: int) -> None:
    chance = random.Random(paths)
    positive = frozenset({N})
    indeterminate = 0
    for _ in range(120):
        walks = [_walk(chance) for _ in range(paths)]
        live = peak(walks, positive).size
        for n in VALUES:
            assert _at(live, n) == max(_highest(walk, n) for walk in walks), (walks, n)
        try:
            held = pooled(walks, PAGE, positive)
        except Indeterminate:
            indeterminate += 1
            continue
        for n in VALUES:
            assert _at(held, n) == max(_obtained(walk, n) for walk in walks), (walks, n, held)
    assert indeterminate < 60


@pytest.mark.parametrize("counted", [0, 1])
def test_what_does_not_count_is_not_alive(counted: int) -> None:
    chance = random.Random(7)
    for _ in range(40):
        walk = _walk(chance)
        others = Walk(
            [
                Allocation(a.size if a.device == counted else 0, None, device=a.device)
                for a in walk.allocations
            ],
            walk.events,
        )
        found = peak([walk], frozenset({N}), Group(device=counted)).size
        for n in VALUES:
            assert _at(found, n) == _highest(others, n)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (N, True),
        (sympy.Integer(0), True),
        (-N, False),
        (N - 3, True),
        (4 * N + 16 * FloorDiv(N + 3, 4), True),
        (FloorDiv(5 - N, 2), False),
        (N**2, True),
        (sympy.Max(N, 3), True),
        (sympy.Max(3 - N, N), False),
        (sympy.Mul(N, N - 1, evaluate=False), False),
        (sympy.Mul(N, N + 1, evaluate=False), True),
        (N * sympy.Max(N, 0), True),
        (FloorDiv(N, 2) * 0 + 1, True),
    ],
    ids=str,
)
def test_what_is_said_to_grow_grows(expr: sympy.Expr, expected: bool) -> None:
    assert grows(expr) is expected
    values = [_at(expr, n) for n in range(40)]
    if expected:
        assert values == sorted(values)
