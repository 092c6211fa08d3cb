"""Bounds of polynomials over ranges: the extremes are found wherever they are."""

from __future__ import annotations

from itertools import product

import pytest
import sympy

from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.prover import ProverChain

N, M = sympy.symbols("n m", integer=True)


def _domain(**bounds: tuple[int, int]) -> Domain:
    facts = [
        Fact(condition, FactKind.ENFORCED, "")
        for name, (low, high) in bounds.items()
        for condition in (sympy.Symbol(name, integer=True) >= low, sympy.Symbol(name, integer=True) <= high)
    ]
    return Domain((N, M), (), frozenset()).with_facts(facts)


@pytest.mark.parametrize("low", [-3, 0, 2])
@pytest.mark.parametrize(
    "expression", [N * M, N - M, -2 * N * M + N, N**2 - M, 5 - N * M, N * (M + 1)], ids=str
)
def test_the_largest_and_the_smallest_value(expression: sympy.Expr, low: int) -> None:
    domain = _domain(n=(low, 4), m=(-2, 3))
    values = [int(expression.subs({N: n, M: m})) for n, m in product(range(low, 5), range(-2, 4))]
    chain = ProverChain()
    for condition, expected in (
        (expression <= max(values), Verdict.ALWAYS_FINE),
        (expression >= min(values), Verdict.ALWAYS_FINE),
        (expression > max(values), Verdict.ALWAYS_WRONG),
        (expression < min(values), Verdict.ALWAYS_WRONG),
        (expression < max(values), Verdict.NEEDS_RUNTIME_CHECK),
        (expression > min(values), Verdict.NEEDS_RUNTIME_CHECK),
    ):
        assert chain.decide(condition, domain).verdict is expected, condition
