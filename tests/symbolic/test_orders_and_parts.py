"""Orders, and what follows from a part alone: products of polynomials, numbers by their size, signs of directions,
what contradicts itself, and which prover a proof is said to be from.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
import sympy

from relax_lint.results.verdict import Prover, Verdict
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.intervals import Bounds
from relax_lint.symbolic.knowledge import Knowledge
from relax_lint.symbolic.polynomial import to_polynomial
from relax_lint.symbolic.prover import ProverChain
from relax_lint.symbolic.search import _by_magnitude
from relax_lint.symbolic.univariate import direction, non_negative_polynomial
from tests.symbolic.test_prover import condition, domain

N, M, K = sympy.symbols("n m k", integer=True)


@pytest.mark.parametrize("factors", list(itertools.permutations((N, M, K * N, M + 1))))
def test_the_order_of_factors_makes_no_difference(factors: tuple[Any, ...]) -> None:
    product = to_polynomial(sympy.Integer(1))
    for factor in factors:
        product = product * to_polynomial(factor)
    assert product == to_polynomial(sympy.expand(N * M * K * N * (M + 1)))
    assert len(product.terms) == 2


@pytest.mark.parametrize(
    ("expr", "moves"),
    [
        (f.FloorDiv(N, sympy.Integer(2)), 1),
        (f.FloorDiv(N, sympy.Integer(-2)), -1),
        (f.FloorDiv(M, sympy.Integer(-2)), 0),
        (f.FloorDiv(5 - N, sympy.Integer(2)), -1),
        (f.FloorDiv(5 - N, sympy.Integer(-2)), 1),
        (f.TruncDiv(N, sympy.Integer(3)), 1),
        # Which way it goes depends on the sign of what nobody knows.
        (f.FloorDiv(N, M), None),
        (f.TruncDiv(N, M), None),
        (f.FloorDiv(N % 3, sympy.Integer(2)), None),
        (sympy.Max(N, M), 1),
        (sympy.Max(N, -N), None),
        (sympy.Max(N, f.FloorDiv(N, M)), None),
        (sympy.Min(N, M, K), 1),
    ],
)
def test_a_quotient_moves_as_its_dividend_where_the_sign_of_the_divisor_is_known(
    expr: Any, moves: int | None
) -> None:
    assert direction(expr, N, Bounds({N: (0, 9), M: (-5, 5), K: (0, 5)})) == moves


@pytest.mark.parametrize(
    ("coefficients", "expected"),
    [
        ([-8, 0, 0, 1], range(2, 6)),
        ([0, -1, 0, 1], (-1, *range(6))),
        ([-1, 0, 0, 0, 1], (*range(-5, 0), *range(1, 6))),
        ([0, 0, 0, 0, 0, 1], range(6)),
        ([4, 0, -5, 0, 1], range(-5, 6)),
        ([9, 0, -10, 0, 1], (-5, -4, -3, -1, 0, 1, 3, 4, 5)),
    ],
)
def test_where_a_polynomial_of_a_higher_degree_is_not_negative(
    coefficients: list[int], expected: Sequence[int]
) -> None:
    found = non_negative_polynomial(coefficients, (-5, 5))
    assert [x for low, high in found for x in range(low, high + 1)] == list(expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (((-3, -2), (1, 2)), [1, -2, 2, -3]),
        (((-2, 1),), [0, -1, 1, -2]),
        (((-9, -8), (-6, -6)), [-6, -8, -9]),
        (((3, 4), (7, 7)), [3, 4, 7]),
        (((-1, -1), (1, 1)), [-1, 1]),
        ((), []),
    ],
)
def test_small_numbers_come_first_and_only_those_of_the_set(
    values: tuple[tuple[int, int], ...], expected: list[int]
) -> None:
    assert list(_by_magnitude(values)) == expected


PRODUCT, SUM = N * M > 200, N + M > 30
"""What no two numbers up to 10 are."""


@pytest.mark.parametrize(
    ("formula", "is_empty"),
    [
        (PRODUCT, True),
        (sympy.Or(PRODUCT, SUM), True),
        (sympy.Or(sympy.And(PRODUCT, N * M >= 1), SUM), True),
        (sympy.Or(sympy.And(N * M >= 1, PRODUCT), sympy.And(SUM, N * M <= 5)), True),
        (sympy.Or(sympy.And(N * M > 2, N * M >= 1), SUM), False),
        (sympy.Or(sympy.And(PRODUCT, N * M >= 1), N + M > 3), False),
        (sympy.Or(PRODUCT, N * M >= 1), False),
    ],
)
def test_one_part_that_cannot_be_refutes_all_parts_together_and_not_one_of_several(
    formula: Any, is_empty: bool
) -> None:
    within = (N >= 0, N <= 10, M >= 0, M <= 10)
    assert Knowledge((N, M), (*within, formula)).empty is is_empty


@pytest.mark.parametrize(
    ("facts", "by"),
    [
        (("n <= 8",), Prover.POLYNOMIAL),
        (("n <= 8", "m >= n"), Prover.POLYNOMIAL),
        (("n <= 8", "m >= n//2"), Prover.INTERVAL),
        (("n <= 8", "m >= n", "m <= Max(n, 3)"), Prover.INTERVAL),
    ],
)
def test_a_proof_is_that_of_polynomials_if_everything_is_one(facts: tuple[str, ...], by: Prover) -> None:
    decision = ProverChain().decide(condition("n <= 9"), domain("nm", *facts))
    assert (decision.verdict, decision.proof.by) == (Verdict.ALWAYS_FINE, by)
