"""Of several points at which a claim fails the smallest is named: by the sum of the magnitudes, then in order."""

from __future__ import annotations

import random
from itertools import product

import pytest
import sympy

from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.prover import ProverChain

_SYMBOLS = sympy.symbols("a b c", integer=True)


def _domain(count: int, low: int, high: int) -> Domain:
    inside = [fact for s in _SYMBOLS[:count] for fact in (sympy.Ge(s, low), sympy.Le(s, high))]
    facts = tuple(Fact(one, FactKind.ENFORCED, str(one)) for one in inside)
    return Domain(_SYMBOLS[:count], facts)


def _smallest(points: list[tuple[int, ...]]) -> tuple[int, ...]:
    return min(points, key=lambda point: (sum(map(abs, point)), point))


@pytest.mark.parametrize("seed", range(60))
def test_of_a_few_points(seed: int) -> None:
    chance = random.Random(seed)
    count, low, high = chance.choice(((1, -9, 9), (2, -4, 5), (2, -300, 300), (3, -3, 3)))
    total = chance.randrange(2, 5)
    near = [
        point
        for point in product(range(max(low, -4), min(high, 4) + 1), repeat=count)
        if sum(map(abs, point)) in (total, total + 1)
    ]
    points = chance.sample(near, chance.randrange(2, 6)) if len(near) > 5 else near
    claim = sympy.And(
        *(sympy.Or(*(sympy.Ne(s, x) for s, x in zip(_SYMBOLS, point, strict=False))) for point in points)
    )
    wrong = ProverChain().decide(claim, _domain(count, low, high)).wrong
    assert wrong is not None
    assert tuple(wrong[s.name] for s in _SYMBOLS[:count]) == _smallest(points)


@pytest.mark.parametrize("total", [0, 1, 3, 6])
@pytest.mark.parametrize("low", [-6, -2, 0])
def test_where_a_product_is_too_large(total: int, low: int) -> None:
    """The points of one sum are all tried: none but the least may be named."""
    a, b = _SYMBOLS[:2]
    claim = a * b < total
    wrong = ProverChain().decide(claim, _domain(2, low, 6)).wrong
    points = [point for point in product(range(low, 7), repeat=2) if point[0] * point[1] >= total]
    assert wrong is not None
    assert (wrong["a"], wrong["b"]) == _smallest(points)
