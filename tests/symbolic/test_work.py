"""The most expensive questions that a search has found: their answers are bounded in counted work."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import sympy

from benchmarks.hardest_question import Maker, Shape
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.symbolic import prover, search, work
from relax_lint.symbolic.decision import Decision
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.symbolic.prover import ProverChain

HARD = (
    Shape(symbols=3, terms=4, depth=2, parts=2, facts=4, nonlinear=0.5, seed=559402977),
    Shape(symbols=2, terms=4, depth=2, parts=3, facts=3, nonlinear=0.5, seed=172756072),
)
"""Before, the first took 24 s of Z3 (10 s without a profiler), the second 40 s of evaluation."""

A, B, C = sympy.symbols("a b c", integer=True)


@cache
def _alone(shape: Shape) -> tuple[Decision, int]:
    chain = ProverChain()
    return chain.decide(*_question(shape)), chain.most_work


@cache
def _question(shape: Shape) -> tuple[Any, Domain]:
    return Maker(shape).question()


@pytest.mark.parametrize("shape", HARD)
def test_a_hard_question_is_undecided_with_its_reason(shape: Shape) -> None:
    decision, steps = _alone(shape)
    assert decision.verdict is Verdict.NEEDS_RUNTIME_CHECK
    assert decision.proof.by is Prover.UNDECIDED
    assert decision.proof.detail
    assert 0 < steps <= work.QUESTION


def test_the_answer_does_not_depend_on_what_was_asked_before() -> None:
    together = ProverChain()
    for shape in reversed(HARD):
        assert together.decide(*_question(shape)) == _alone(shape)[0]


def test_what_takes_too_much_work_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Domain((A, B, C)).with_facts(Fact(sympy.Ge(s, 1), FactKind.ENFORCED, "") for s in (A, B, C))
    claim = sympy.Le(FloorDiv(A * B, C), A * B)
    assert ProverChain().decide(claim, domain).verdict is Verdict.ALWAYS_FINE
    monkeypatch.setattr(prover, "QUESTION", 100)
    decision = ProverChain().decide(claim, domain)
    assert decision.verdict is Verdict.NEEDS_RUNTIME_CHECK
    assert decision.proof.detail.startswith("one question may take only so much work")


def test_a_stage_ends_quietly_and_is_paid_for() -> None:
    with work.allowed(100) as allowance:
        with work.stage(30):
            work.spend(20)
        with work.stage(30):
            work.spend(31)
            pytest.fail("goes on")
        assert (allowance.left, work.is_exhausted()) == (50, True)
        with work.stage(80):
            work.spend(51)
            pytest.fail("goes on")
        assert allowance.left == 0
        with pytest.raises(work.TooMuchWork):
            work.spend(1)
    assert not work.is_exhausted()
    work.spend(1 << 60)


def test_a_shell_is_walked_without_detours() -> None:
    """A box of one point takes its part of the radius: nobody looks for another."""
    far = 1 << 40
    assert list(search._shell([(0, far), (0, 0), (5, 5)], far)) == [(far - 5, 0, 5)]
    assert list(search._shell([(-far, far), (3, 4)], 5)) == [(-2, 3), (-1, 4), (1, 4), (2, 3)]


def test_what_has_no_value_in_part_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = sympy.Or(sympy.Ge(FloorDiv(A, B), 7), sympy.Le(A, 3))
    holds = compile_condition(claim, (A, B))
    monkeypatch.setattr("relax_lint.symbolic.evaluation._compile", None)
    assert [holds(2, 0), holds(5, 0), holds(8, 1)] == [True, None, True]
