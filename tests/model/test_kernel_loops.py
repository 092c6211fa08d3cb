"""What is known of the loops of a kernel, against every step of them at small sizes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import pytest
import sympy

from relax_lint.model.kernel_body.loops import Loops, Range
from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.symbolic.functions import FloorDiv

n, m = (sympy.Symbol(name, integer=True) for name in "nm")
i, j, k = (sympy.Symbol(name, integer=True) for name in "ijk")
RANGES = {i: (sympy.Integer(0), n), j: (sympy.Integer(-2), m), k: (n, sympy.Integer(3))}
"""Where each loop begins, and how many steps it has."""


def loops_of_three() -> Loops:
    found = Loops()
    for symbol in (n, m):
        assert found.symbol_of(symbol) == symbol
    found.close_signature([n, m])
    for symbol in RANGES:
        found.enter(found.symbol_of(symbol), *RANGES[symbol])
    return found


def points(sizes: tuple[int, int]) -> Iterator[tuple[int, ...]]:
    """The numbers of all symbols in every step of all loops."""
    ends = [[compile_expr(end, (n, m))(*sizes) for end in loop] for loop in RANGES.values()]
    return product(*([size] for size in sizes), *(range(first, first + steps) for first, steps in ends))


POINTS = {sizes: list(points(sizes)) for sizes in product((1, 2, 3, 5), (1, 2, 3, 5))}
"""Those of each call: `n`, `m` and the loops."""


def values(index: sympy.Expr) -> dict[tuple[int, int], set[int]]:
    """What an index comes to, in each call."""
    value = compile_expr(index, (n, m, *RANGES))
    return {sizes: {value(*point) for point in steps} for sizes, steps in POINTS.items()}


def drawn(chance: random.Random) -> sympy.Expr:
    terms = [
        i,
        j,
        k,
        FloorDiv(i, 2),
        FloorDiv(i + 3 * j, 4),
        FloorDiv(j - i, 3),
        n,
        m,
        i * j,
        sympy.Integer(7),
    ]
    return sum(
        chance.choice((-3, -1, 1, 2)) * term for term in chance.sample(terms, chance.choice((1, 2, 3)))
    )


def test_a_range_has_both_ends_and_is_told_of_sums_of_different_loops() -> None:
    loops, chance = loops_of_three(), random.Random(11)
    told = 0
    for index in dict.fromkeys(drawn(chance) for _ in range(60)):
        found = loops.range_of(index)
        if found is None:
            continue
        told += 1
        first, last = (compile_expr(end, (n, m)) for end in (found.first, found.last))
        for sizes, reached in values(index).items():
            assert (first(*sizes), last(*sizes)) == (min(reached), max(reached)), (index, sizes)
    assert told >= 20


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (i, Range(sympy.Integer(0), n - 1)),
        (-2 * i + 1, Range(3 - 2 * n, sympy.Integer(1))),
        (i + 3 * j, Range(sympy.Integer(-6), n + 3 * m - 10)),
        (i + j - k, Range(-n - 4, m - 4)),
        (2 * FloorDiv(i, 2) + m, Range(m, m + 2 * FloorDiv(n - 1, 2))),
        (FloorDiv(i - j, 4), Range(FloorDiv(3 - m, 4), FloorDiv(n + 1, 4))),
        (m - 1, Range(m - 1, m - 1)),
        # One loop twice, a product of two, and a quotient by what is no number.
        (i - 2 * FloorDiv(i, 2), None),
        (i + j + FloorDiv(i, 3), None),
        (i * j, None),
        (i * n, None),
        (FloorDiv(i, n), None),
    ],
)
def test_the_range_of(index: sympy.Expr, expected: Range | None) -> None:
    found = loops_of_three().range_of(index)
    if expected is None or found is None:
        assert found is expected
        return
    assert sympy.expand(found.first - expected.first) == 0
    assert sympy.expand(found.last - expected.last) == 0


def test_a_loop_that_begins_at_another_one_has_no_range_in_terms_of_the_call() -> None:
    loops = loops_of_three()
    inner = loops.fresh("inner")
    loops.enter(inner, i, sympy.Integer(2))
    assert loops.range_of(inner) is None
    loops.enter(inner, n, sympy.Integer(2))
    assert loops.range_of(inner) == Range(n, n + 1)
    loops.forget(inner)
    assert loops.range_of(inner) is None


@pytest.mark.parametrize(
    ("value", "known"),
    [
        (n, True),
        (n * m - n * m + 3, True),
        (n * m + 2 * n**2, True),
        (n - m, False),
        (-n, False),
        (n - 1, False),
        (n + i, False),
        (FloorDiv(n, 2), False),
        (sympy.Integer(-1), False),
    ],
)
def test_what_is_known_not_to_be_negative(value: sympy.Expr, known: bool) -> None:
    assert loops_of_three().is_not_negative(value) is known


def test_an_extent_that_is_a_sum_is_not_negative_nor_its_multiples() -> None:
    loops = Loops()
    for symbol in (n, m):
        loops.symbol_of(symbol)
    loops.close_signature([n, m, n - m + 1])
    assert loops.is_not_negative(n - m + 1)
    assert loops.is_not_negative(n * (n - m + 1))
    assert loops.is_not_negative(sympy.expand((n + 2 * m) * (n - m + 1)))
    assert not loops.is_not_negative(n - m)
    assert not loops.is_not_negative(-(n - m + 1))
    assert not loops.is_not_negative(n - m + 2)


@pytest.mark.parametrize("extent", [sympy.Integer(6), n, n + m])
def test_an_index_that_is_inside_is_so_in_every_step(extent: sympy.Expr) -> None:
    loops, chance = loops_of_three(), random.Random(12)
    indices = [
        i,
        i + 1,
        k - n,
        k - n + 3,
        k - n + 4,
        k - n - 1,
        i - 1,
        n - 1 - i,
        j + 2,
        *map(drawn, [chance] * 20),
    ]
    inside = [index for index in indices if loops.is_inside(index, extent)]
    limit = compile_expr(extent, (n, m))
    for index in inside:
        for sizes, reached in values(index).items():
            assert min(reached) >= 0
            assert max(reached) < limit(*sizes)
    expected = {6: {k - n, k - n + 3}, n: {i}, n + m: set()}
    assert set(inside) >= expected[int(extent) if extent.is_Integer else extent]
    assert not loops.is_inside(None, extent)
