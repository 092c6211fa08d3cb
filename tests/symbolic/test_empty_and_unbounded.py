"""What the provers promise at their ends: domains that are empty or unbounded, and what cannot be solved."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import sympy
from sympy.logic.boolalg import And, Or

from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.symbolic.knowledge import Knowledge
from relax_lint.symbolic.links import Links
from relax_lint.symbolic.prover import ProverChain
from relax_lint.symbolic.regions import MAX_PIECES, safe_region
from relax_lint.symbolic.search import QUICK

N, M, K = SYMBOLS = sympy.symbols("n m k", integer=True)
UNKNOWN = sympy.Function("g", integer=True)(N)


def facts(*conditions: Any, kind: FactKind = FactKind.ENFORCED) -> tuple[Fact, ...]:
    return tuple(Fact(one, kind, str(one)) for one in conditions)


# -- domains -----------------------------------------------------------------------------------


def test_a_part_of_an_empty_domain_is_empty() -> None:
    empty = Domain((N, M), facts(N >= 5, N <= 3))
    part = empty.with_facts(facts(M >= 1))
    chain = ProverChain()
    assert chain.is_empty(empty)
    assert chain.is_empty(part)
    assert ProverChain().is_empty(part)
    assert not chain.is_empty(Domain((N, M), facts(N >= 3, N <= 5)).with_facts(facts(M >= 1)))


@pytest.mark.parametrize(
    ("condition", "within", "empty"),
    [
        # n * m <= 9 < 10 <= 2 * k, and n * m >= 16 > 14 >= 2 * k.
        (sympy.Eq(N * M, 2 * K), ((0, 3), (0, 3), (5, 9)), True),
        (sympy.Eq(N * M, 2 * K), ((4, 9), (4, 9), (0, 7)), True),
        (sympy.Eq(N * M, 2 * K), ((0, 3), (0, 4), (5, 9)), False),
        (sympy.Eq(N * M, 2 * K), ((4, 9), (4, 9), (0, 8)), False),
        (sympy.Eq(2 * K, N * M), ((0, 3), (0, 3), (5, 9)), True),
        (sympy.Eq(2 * K, N * M), ((4, 9), (4, 9), (0, 7)), True),
        (sympy.Ge(N * M, 2 * K), ((0, 3), (0, 3), (5, 9)), True),
        (sympy.Ge(N * M, 2 * K), ((0, 5), (0, 2), (5, 9)), False),
        (sympy.Ne(N * M, 2 * K), ((2, 2), (3, 3), (3, 3)), True),
        (sympy.Ne(N * M, 2 * K), ((2, 2), (3, 3), (3, 4)), False),
        (sympy.Ne(N * M, 2 * K), ((2, 2), (3, 3), (2, 3)), False),
        (sympy.Ne(N * M, 2 * K), ((2, 2), (3, 3), (4, 4)), False),
        (Or(sympy.Eq(N * M, 2 * K), N * M >= 10), ((0, 3), (0, 3), (5, 9)), True),
        (Or(sympy.Eq(N * M, 2 * K), N * M >= 9), ((0, 3), (0, 3), (5, 9)), False),
        (Or(N * M >= 10, sympy.Eq(N * M, 2 * K + 1)), ((0, 3), (0, 3), (4, 9)), False),
        (Or(And(N * M >= 4, K * M >= 100), N * M >= 10), ((0, 3), (0, 3), (5, 9)), True),
        (Or(And(N * M >= 4, K * M >= 20), N * M >= 10), ((0, 3), (0, 3), (5, 9)), False),
    ],
)
def test_a_condition_that_no_value_within_bounds_meets(
    condition: Any, within: tuple[tuple[int, int], ...], empty: bool
) -> None:
    bounds = [one for s, (low, high) in zip(SYMBOLS, within, strict=True) for one in (s >= low, s <= high)]
    assert Knowledge(SYMBOLS, (*bounds, condition)).empty is empty
    assert ProverChain().is_empty(Domain(SYMBOLS, facts(*bounds, condition))) is empty
    values = product(*(range(low, high + 1) for low, high in within))
    assert any(condition.subs(dict(zip(SYMBOLS, at, strict=True))) for at in values) is not empty


@pytest.mark.parametrize("known_first", [True, False])
def test_a_part_of_a_domain_may_speak_of_another_symbol(known_first: bool) -> None:
    """`k` is no symbol of the domain: it may be any integer of 64 bits."""
    more = (sympy.Ge(N, 2), sympy.Ge(K, 5))
    part = Domain((N, M), facts(N >= 1)).with_facts(facts(*(more if known_first else more[::-1])))
    chain = ProverChain()
    assert chain.entails(part, sympy.Ge(K, 4))
    assert chain.entails(part, sympy.Ge(N + K, 7))
    assert not chain.entails(part, sympy.Ge(K, 6))


@pytest.mark.parametrize(
    ("believed", "enforced", "assumptions"),
    [(True, False, ("0 >= 2",)), (True, True, ()), (False, True, ())],
)
def test_that_nothing_is_reachable_rests_on_what_is_believed_only_where_nothing_else_says_so(
    believed: bool, enforced: bool, assumptions: tuple[str, ...]
) -> None:
    divided = sympy.Ge(FloorDiv(1, 0), 2)
    known = [Fact(divided, FactKind.ASSUMED, "0 >= 2")] if believed else []
    known += [Fact(sympy.false, FactKind.ENFORCED, "false")] if enforced else []
    decision = ProverChain().decide(sympy.Ge(N, 3), Domain((N,), tuple(known)))
    assert (decision.verdict, decision.reachable) == (Verdict.ALWAYS_FINE, False)
    assert tuple(fact.text for fact in decision.assumptions) == assumptions


def test_what_is_assumed_of_other_symbols_is_not_told_with_an_example() -> None:
    """`m <= 9` is about `m`: whatever it is, `n <= 4` holds for some `n` and not for others."""
    domain = Domain((N, M), (*facts(N >= 0, N <= M), *facts(M <= 9, kind=FactKind.ASSUMED)))
    decision = ProverChain().decide(sympy.Le(N, 4), domain)
    assert (decision.verdict, decision.assumptions) == (Verdict.NEEDS_RUNTIME_CHECK, ())
    about = Domain((N, M), (*facts(N >= 0, N <= M), *facts(N <= 9, kind=FactKind.ASSUMED)))
    assert [fact.text for fact in ProverChain().decide(sympy.Le(N, 4), about).assumptions] == ["n <= 9"]


def test_a_member_names_every_symbol_once() -> None:
    domain = Domain((N, M, K), facts(N >= 3, M >= N, M <= 3))
    assert ProverChain().satisfiable(domain) == {"n": 3, "m": 3, "k": 0}


# -- search ------------------------------------------------------------------------------------


def found(symbols: tuple[Any, ...], conditions: tuple[Any, ...], wanted: Any) -> tuple[Any, bool]:
    best = Links(rlimit=0, max_points=0).search(symbols, conditions).smallest(wanted, QUICK)
    return best.point, best.exact


@pytest.mark.parametrize("power", [3, 65])
def test_what_cannot_be_solved_is_tried(power: int) -> None:
    """Of a power above 64 there is no polynomial."""
    one, two = (tuple(b for s in SYMBOLS[:n] for b in (s >= 0, s <= 20)) for n in (1, 2))
    assert found((N,), one, sympy.Ge(N**power, 2**power)) == ((2,), True)
    assert found((N, M), two, sympy.Ge(N**power * M, 3**power)) == ((3, 1), True)


def test_what_is_far_away_is_guessed_at_the_corners() -> None:
    """Sums of up to 100,000 are more than is tried."""
    within = tuple(b for s in (N, M) for b in (s >= 0, s <= 100_000))
    point, exact = found((N, M), within, And(N >= 100_000, M <= 0))
    assert (point, exact) == ((100_000, 0), False)


@pytest.mark.parametrize("low", [0, -2])
def test_where_what_is_solved_has_no_value_there_is_no_member(low: int) -> None:
    """`m` is `12 // n`: of all with `m <= 4` the smallest one is `(3, 4)`, or `(-2, -6)` and none with 0."""
    conditions = (low <= N, N <= 50, sympy.Eq(M, FloorDiv(12, N)))
    points = [(n, 12 // n) for n in range(low, 51) if n]
    for most in (4, 0, -1):
        fine = [p for p in points if p[1] <= most]
        expected = min(fine, key=lambda p: (sum(map(abs, p)), p), default=None)
        assert found((N, M), conditions, sympy.Le(M, most)) == (expected, True)


def test_a_condition_along_a_line_where_what_is_solved_has_no_value() -> None:
    conditions = (*(b for s in (N, K) for b in (s >= 0, s <= 30)), sympy.Eq(M, FloorDiv(12, N)))
    wanted = sympy.Ge(FloorDiv(K, 3) + FloorDiv(M, 2), 9)
    points = [(n, 12 // n, k) for n in range(1, 31) for k in range(31)]
    fine = [p for p in points if p[2] // 3 + p[1] // 2 >= 9]
    expected = min(fine, key=lambda p: (sum(map(abs, p)), p))
    assert found((N, M, K), conditions, wanted)[0] == expected


# -- knowledge ---------------------------------------------------------------------------------


def test_a_fact_may_join_alternatives_and_a_bound() -> None:
    knowledge = Knowledge((N, M), (And(Or(N >= 3, M >= 3), N >= 1, M >= 0),))
    for claim, shown in ((N >= 1, True), (N + M >= 1, True), (N >= 2, False)):
        assert knowledge.proves(knowledge.formula(claim)) is shown


def test_of_a_symbol_that_nobody_knows_nothing_is_shown() -> None:
    knowledge = Knowledge((N,), (N >= 1,))
    assert not knowledge.proves(knowledge.formula(K >= -(2**62)))
    assert Links(rlimit=0, max_points=0).follows((N,), (N >= 1,), sympy.Ge(UNKNOWN, 0)) is False


def test_a_region_of_many_pieces_is_not_told_as_intervals() -> None:
    """Of pieces of one value each only so many are written."""
    for count, told in ((MAX_PIECES, True), (MAX_PIECES + 1, False)):
        claim = Or(*(sympy.Eq(N, 3 * x + 1) for x in range(count)))
        region = safe_region(claim, Knowledge((N,), (N >= 0, N <= 1000)))
        values = [n for n in range(1001) if region is not None and region.subs(N, n) == sympy.true]
        assert (values == [3 * x + 1 for x in range(count)]) or not told


@pytest.mark.parametrize("power", [1, 2])
def test_where_facts_contradict_each_other_every_claim_is_safe(power: int) -> None:
    knowledge = Knowledge([N], [N**power >= 50, N <= 3, N >= 0])
    assert safe_region(4 * N <= 8, knowledge) == sympy.true
