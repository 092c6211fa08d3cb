"""Conditions that cannot be evaluated, and powers that nobody translates: nothing is said, and nothing breaks."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.links import Links
from relax_lint.symbolic.prover import ProverChain
from relax_lint.symbolic.search import QUICK, Search
from relax_lint.symbolic.wrapping import may_wrap

N, M, X = sympy.symbols("n m x", integer=True)
G = sympy.Function("g", integer=True)
WITHIN = (sympy.Ge(N, 0), sympy.Le(N, 9), sympy.Ge(M, 0), sympy.Le(M, 9))


def _search(*more: Any) -> Search:
    return Links(rlimit=0, max_points=0).search((N, M), (*WITHIN, *more))


@pytest.mark.parametrize(
    ("condition", "point"),
    [
        (sympy.Ge(G(N), 1), None),
        (sympy.And(sympy.Ge(G(N), 1), sympy.Ge(N, 3)), None),
        (sympy.Ge(N + M, 3), (0, 3)),
        (sympy.Ge(N - M, 9), (9, 0)),
    ],
)
def test_no_point_is_found_where_nobody_can_evaluate(condition: Any, point: tuple[int, int] | None) -> None:
    assert _search().smallest(condition, QUICK).point == point


@pytest.mark.parametrize(
    ("fact", "is_member"),
    [(sympy.Ge(G(N), 1), False), (sympy.Ge(N, 3), True), (sympy.Ge(N, 4), False)],
)
def test_nothing_is_a_member_where_a_fact_cannot_be_evaluated(fact: Any, is_member: bool) -> None:
    search = _search(fact)
    assert search.is_member((3, 1)) is is_member
    assert (search.smallest(sympy.Ge(3, N), QUICK).point is not None) is is_member


def test_what_is_no_number_of_64_bits_is_no_member() -> None:
    search = Links(rlimit=0, max_points=0).search((N,), ())
    assert [search.is_member((value,)) for value in (2**63 - 1, 2**63, -(2**63), -(2**63) - 1)] == [
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("side", "wraps"),
    [(N, False), (N**2, True), (N**3, True), (2**N, True), (N**M, True), (1 / N, True)],
)
def test_a_power_leaves_64_bits_unless_it_is_known_to_stay(side: Any, wraps: bool) -> None:
    assert may_wrap(sympy.Le(X, side), frozenset((X,)), 2**40, simplified=False) is wraps


@pytest.mark.parametrize(
    ("claim", "safe"), [(sympy.Le(N, 2), None), (sympy.Le(N, 3), None), (sympy.Le(N, 5), sympy.Le(N, 5))]
)
def test_nothing_is_safe_is_no_region(claim: Any, safe: Any) -> None:
    """Where no member of the domain is known, that nothing is safe is not known either."""
    facts = (sympy.Ge(N, 4), sympy.Ge(G(N), 1))
    domain = Domain((N,), tuple(Fact(fact, FactKind.ENFORCED, str(fact)) for fact in facts))
    decision = ProverChain().decide(claim, domain)
    assert (decision.verdict, decision.safe_when) == (Verdict.NEEDS_RUNTIME_CHECK, safe)
