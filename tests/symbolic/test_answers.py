"""Answers that outlast the chain of provers that found them."""

from __future__ import annotations

from threading import Thread

import pytest
import sympy

from relax_lint.results.verdict import Verdict
from relax_lint.symbolic import answers as kept
from relax_lint.symbolic.answers import Answers, lasting_answers
from relax_lint.symbolic.domain import Domain
from relax_lint.symbolic.links import Links
from relax_lint.symbolic.prover import ProverChain

n, m = sympy.symbols("n m", integer=True)


def test_a_question_about_other_symbols_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Answers()
    first = ProverChain(answers=answers).decide(4 * n <= 16, Domain((n,)))
    assert first.verdict is Verdict.NEEDS_RUNTIME_CHECK
    assert len(answers) > 0
    # Whoever has to find something out fails from here on.
    monkeypatch.delattr(Links, "search")
    monkeypatch.delattr(Links, "witness")
    again = ProverChain(answers=answers).decide(4 * m <= 16, Domain((m,)))
    assert (again.verdict, again.safe_when) == (first.verdict, sympy.Le(m, 4))
    assert {"m"} == set(again.wrong or ()) == set(again.fine or ())
    with pytest.raises(AttributeError):
        ProverChain().decide(4 * m <= 16, Domain((m,)))


def test_answers_are_those_of_one_limit_and_one_thread() -> None:
    found = lasting_answers(2**40)
    assert lasting_answers(2**40) is found
    others: list[Answers] = []
    thread = Thread(target=lambda: others.append(lasting_answers(2**40)))
    thread.start()
    thread.join()
    assert others[0] is not found
    # The largest fine example is bounded by it.
    assert lasting_answers(2**20) is not found


def test_too_many_answers_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    found = lasting_answers(2**40)
    ProverChain(answers=found).decide(4 * n <= 16, Domain((n,)))
    assert lasting_answers(2**40) is found
    monkeypatch.setattr(kept, "MAX_ANSWERS", 0)
    assert len(lasting_answers(2**40)) == 0
