"""Random claims over small boxes: nothing that a prover says may be refuted by trying all points."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.prover import ProverChain

from .brute_force import random_case, to_sympy, violations

SEEDS = st.integers(min_value=0, max_value=2**40)


def check(seed: int, chain: ProverChain, *, complete: bool) -> str:
    """Try all points of a random case. Returns the verdict on it."""
    case = random_case(random.Random(seed))
    claim, domain = to_sympy(case.claim), case.domain()
    decision, first = chain.decide(claim, domain), chain.first_failure(claim, domain)
    facts = [condition_text(fact.condition) for fact in domain.facts]
    assert not violations(case, decision, first, complete=complete), (condition_text(claim), facts)
    return f"{decision.verdict.value}, {'mixed' if decision.mixed else 'not mixed'}"


# What divides by zero at some point is undecided, however many points are tried.
OUTCOMES = {
    "always-fine, not mixed",
    "always-wrong, not mixed",
    "needs-runtime-check, mixed",
    "needs-runtime-check, not mixed",
}


def test_proofs_and_searches() -> None:
    seen: set[str] = set()

    @given(SEEDS)
    @settings(max_examples=125, deadline=None)
    def no_point_refutes_it(seed: int) -> None:
        seen.add(check(seed, ProverChain(max_points=0), complete=False))

    no_point_refutes_it()
    assert seen == OUTCOMES


def test_with_trying_all_points_small_domains_are_decided() -> None:
    seen: set[str] = set()

    @given(SEEDS)
    @settings(max_examples=75, deadline=None)
    def no_point_refutes_it(seed: int) -> None:
        seen.add(check(seed, ProverChain(), complete=True))

    no_point_refutes_it()
    assert seen == OUTCOMES


@pytest.mark.slow
@pytest.mark.parametrize("complete", [False, True])
def test_many(complete: bool) -> None:
    for seed in range(20_000):
        if seed % 500 == 0:
            chain = ProverChain() if complete else ProverChain(max_points=0)
        check(seed, chain, complete=complete)
