"""TVM's analyzer and Z3 on their own, without the provers before them, against trying all points."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_lint.symbolic.backend import analyzer_proves, z3_proves
from relax_lint.symbolic.domain import FactKind
from relax_lint.symbolic.intervals import Bounds
from relax_lint.symbolic.knowledge import Knowledge

from .brute_force import random_case, to_sympy

N, M = sympy.symbols("n m", integer=True)
RLIMIT = 200_000


def test_what_they_prove_is_true() -> None:
    seen: Counter[str] = Counter()

    @given(st.integers(min_value=0, max_value=2**40))
    @settings(max_examples=125, deadline=None)
    def no_point_refutes_it(seed: int) -> None:
        case = random_case(random.Random(seed))
        claim, domain = to_sympy(case.claim), case.domain()
        facts = [fact.condition for fact in domain.facts]
        bounds = Knowledge(domain.symbols, facts).bounds
        proves = {
            "analyzer": analyzer_proves(claim, facts, bounds),
            "z3": z3_proves(claim, facts, RLIMIT),
        }
        # Where the claim divides by zero there is nothing to be true of.
        values = [value for at in case.points(*FactKind) if (value := case.value(at)) is not None]
        for name in (name for name, proved in proves.items() if proved):
            seen[name] += len(values)
            assert all(values)

    no_point_refutes_it()
    assert min(seen["analyzer"], seen["z3"]) > 20


@pytest.mark.parametrize(
    ("claim", "facts"),
    [
        # In 64 bits 2**62 + 2**62 is negative.
        (N + M >= 0, [N >= 2**62, M >= 2**62]),
        # 2**33 * 2**33 is 4 in 64 bits plus a carry that is lost.
        (N * M >= 2**62, [sympy.Eq(N, 2**33), M >= 2**33]),
        (sympy.Le(M * N, M * N * N), [N >= 1, M >= 0, N <= 2**40, M <= 2**40]),
    ],
)
def test_z3_counts_without_wrapping_around(claim: sympy.Basic, facts: list[sympy.Basic]) -> None:
    assert z3_proves(claim, facts, RLIMIT)
    assert not z3_proves(sympy.Not(claim), facts, RLIMIT)


def test_constants_beyond_64_bits_are_not_asked() -> None:
    assert not z3_proves(N <= 2**63, [N <= 5], RLIMIT)
    assert not analyzer_proves(N <= 2**63, [N <= 5], Bounds({N: (0, 5)}))


def test_the_simplifier_sees_no_product_that_could_wrap() -> None:
    facts = [N >= 0, N <= 2**40]
    assert not analyzer_proves(8388608 * N <= 2**63 - 1, facts, Bounds({N: (0, 2**40)}))


def test_zero_resources_prove_nothing_hard() -> None:
    """A limit is a limit on steps: the same question is answered the same way each time."""
    hard = sympy.Ne(N**3 + M**3, sympy.Symbol("k", integer=True) ** 3 * 3 + 4)
    assert [z3_proves(hard, [N >= 0, M >= 0], 5_000) for _ in range(3)] == [False] * 3
