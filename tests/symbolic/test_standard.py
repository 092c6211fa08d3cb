"""Claims of rule packages that are written with sympy's own functions: decided or undecided, never an error."""

from __future__ import annotations

import random
from itertools import product

import pytest
import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.results.verdict import Prover, Verdict
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.asked import Plain
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.prover import ProverChain
from relax_lint.symbolic.smtlib import script
from relax_lint.symbolic.standard import standard

n, m = sympy.symbols("n m", integer=True)
FINE, WRONG, CHECK = Verdict.ALWAYS_FINE, Verdict.ALWAYS_WRONG, Verdict.NEEDS_RUNTIME_CHECK


def over(low: int, high: int, *facts: Boolean) -> Domain:
    """Every n and m between two bounds of which the facts hold."""
    ranges = [sympy.And(s >= low, s <= high) for s in (n, m)]
    return Domain((n, m), tuple(Fact(c, FactKind.ENFORCED, str(c)) for c in (*ranges, *facts)))


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (sympy.Eq(sympy.Mod(n, 4), 0), CHECK),
        (sympy.Mod(n, 4) <= 3, FINE),
        # Python's remainder has the sign of the divisor.
        (sympy.Mod(n, -4) > 0, WRONG),
        (4 * sympy.floor(n / 4) <= n, FINE),
        (4 * sympy.ceiling(n / 4) < n, WRONG),
        (4 * sympy.ceiling(n / 4) <= n + 3, FINE),
        (sympy.floor(n / 2 + sympy.Rational(1, 3)) > n, CHECK),
        (n / 2 + sympy.Rational(1, 3) > sympy.floor(n / 2), FINE),
        (sympy.Abs(n) >= n, FINE),
        (sympy.Abs(n) < -n, WRONG),
        (sympy.sign(n) <= 1, FINE),
        (sympy.Piecewise((n, n > m), (m, True)) >= n, FINE),
        (sympy.Ne(sympy.Abs(n) + 1, 0), FINE),
        (sympy.Implies(n > 3, n > 2), FINE),
        (sympy.Xor(n > 3, n <= 3), FINE),
        (sympy.Equivalent(n > 3, n <= 3), WRONG),
        (sympy.ITE(n > m, n >= m + 1, n <= m), FINE),
        (sympy.Not(sympy.And(n > 3, sympy.Mod(n, 2) > 1)), FINE),
    ],
)
def test_sympys_own_functions_of_integers_are_decided(claim: Boolean, verdict: Verdict) -> None:
    chain, domain = ProverChain(), over(-(2**40), 2**40)
    decision = chain.decide(claim, domain)
    assert decision.verdict is verdict
    assert decision.proof.by is not Prover.UNDECIDED
    assert chain.entails(domain, claim) is (verdict is FINE)
    assert "(assert (not" in script([(Plain(claim), domain)], (), always_holds=True)


@pytest.mark.parametrize(
    "claim",
    [
        sympy.factorial(n) >= 1,
        sympy.binomial(n, m) <= n,
        f.FloorDiv(sympy.factorial(n), 4) >= 0,
        f.FloorDiv(sympy.Integer(2) ** n, 4) >= 0,
        sympy.Max(sympy.sqrt(n), 1) >= 1,
        sympy.floor(sympy.sqrt(n)) <= n,
        sympy.Eq(sympy.Mod(n / 2, 1), 0),
        sympy.Ne(sympy.Piecewise((m, m > n)), 3),
        sympy.Piecewise((m, sympy.ITE(m <= n, sympy.Eq(n, 4) & (m > n), False))) < n,
        sympy.Or(n > 3, sympy.floor(sympy.sqrt(m)) > 2),
        f.Select(sympy.factorial(n) > m, n, m) <= 3,
    ],
)
def test_what_no_prover_knows_is_undecided(claim: Boolean) -> None:
    chain = ProverChain()
    # An equality is solved and put into the claim: that must not make anything out of what is unknown.
    for domain in (over(0, 9), over(0, 9, sympy.Eq(n, m)), over(0, 9, claim)):
        decision = chain.decide(claim, domain)
        assert (decision.verdict, decision.proof.by) == (CHECK, Prover.UNDECIDED)
        chain.first_failure(claim, domain)
        chain.satisfiable(domain)


def number(choose: random.Random, depth: int) -> sympy.Expr:
    if depth == 0:
        return choose.choice([n, m, sympy.Integer(choose.randint(-5, 9))])
    a, b = number(choose, depth - 1), number(choose, depth - 1)
    kind = choose.randrange(6)
    if kind == 0:
        return sympy.Mod(a, choose.choice([-3, 2, 4]))
    if kind == 1:
        return sympy.floor((a + b) / choose.choice([-2, 3, 4]))
    if kind == 2:
        return sympy.ceiling(a / choose.choice([2, 4]) + sympy.Rational(1, 3))
    if kind == 3:
        return sympy.Abs(a - b) * sympy.sign(b)
    if kind == 4:
        return sympy.Piecewise((a, a > m), (n, b <= n), (b, True))
    return a * b - m


def test_what_they_stand_for_is_the_same_at_every_point() -> None:
    choose = random.Random(17)
    points = list(product(range(-3, 4), repeat=2))
    decided = 0
    for _ in range(24):
        relation = choose.choice([sympy.Le, sympy.Lt, sympy.Eq, sympy.Ne])
        claim = relation(number(choose, 2), number(choose, 1))
        truths = {bool(claim.subs({n: a, m: b})) for a, b in points}
        assert truths == {bool(standard(claim).subs({n: a, m: b})) for a, b in points}
        verdict = ProverChain().decide(claim, over(-3, 3)).verdict
        assert verdict is (CHECK if len(truths) == 2 else FINE if truths == {True} else WRONG)
        decided += verdict is not CHECK
    assert decided > 1
