"""Questions to the provers, of which all points can be tried."""

from __future__ import annotations

import random
from collections.abc import Iterator

from relax_lint.symbolic.decision import Decision, FirstFailure
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.prover import ProverChain
from tests.strength.claims import WHERE, Said
from tests.symbolic.brute_force import Case, random_case, to_sympy, violations


def question(seed: int) -> Case:
    """A claim over some symbols in a box, with facts."""
    return random_case(random.Random(seed))


def said_of_question(case: Case, *, trying: bool) -> Said:
    """Who decides it and how; with `trying` the provers may try points."""
    return Said(tuple(_claims(*_answers(case, trying))))


def verify_question(case: Case, *, trying: bool) -> None:
    """Raises where some point refutes an answer."""
    wrong = violations(case, *_answers(case, trying), complete=trying)
    if wrong:
        raise AssertionError(f"{case}: {wrong}")


def _answers(case: Case, trying: bool) -> tuple[Decision, FirstFailure]:
    chain = ProverChain() if trying else ProverChain(max_points=0)
    claim, domain = to_sympy(case.claim), case.domain()
    return chain.decide(claim, domain), chain.first_failure(claim, domain)


def _claims(decision: Decision, first: FirstFailure) -> Iterator[str]:
    by = decision.proof.by.value
    if by != "undecided":
        yield f"{decision.verdict.value} by {by}, reachable: {decision.reachable}, mixed: {decision.mixed}"
    if decision.safe_when is not None:
        yield f"safe{WHERE}{condition_text(decision.safe_when)}"
    for name, example in (("fine", decision.fine), ("wrong", decision.wrong), ("fails", first.at)):
        if example is not None:
            yield f"{name} at {dict(example)}"
    for fact in decision.assumptions:
        yield f"assumes {fact.text}"
    yield f"first failure: {first.status.value}"
