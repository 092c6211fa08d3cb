"""Domains as they occur (extents up to 2**40, any int64): proofs against random and extreme points."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.decision import FailureStatus
from relax_lint.symbolic.domain import INT64_MAX, INT64_MIN, Domain, Fact, FactKind
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.prover import ProverChain

from .brute_force import NAMES, SYMBOLS, Tree, to_sympy, truth

CONSTANTS = (1, 2, 3, 4, 7, 8, 16, 128, 4095, 4096, 2**20, 2**23, 2**31, 2**40, 2**62, 2**63 - 1)
EXTREMES = (0, 1, 2, 3, 4, 5, 16, 17, 1023, 1024, 1025, 4096, 2**20, 2**23, 2**40 - 1, 2**40)


def size_tree(rng: random.Random, names: tuple[str, ...], depth: int) -> Tree:
    """A random size as memory planning writes them."""
    if depth == 0:
        return ("var", rng.choice(names)) if rng.random() < 0.7 else ("int", rng.choice(CONSTANTS[:12]))
    kind = rng.choices(("*", "+", "//", "page", "min", "max", "-"), (8, 5, 3, 2, 1, 1, 1))[0]
    a = size_tree(rng, names, depth - 1)
    if kind == "//":
        return ("//", ("+", a, ("int", 7)), ("int", 8))
    if kind == "page":
        return ("*", ("int", 4096), ("//", ("+", a, ("int", 4095)), ("int", 4096)))
    return (kind, a, size_tree(rng, names, depth - 1))


def check(seed: int) -> Iterator[str]:
    """Compare the answers about a random claim with its value at random points. Yields what was compared."""
    rng = random.Random(seed)
    names = NAMES[: rng.randint(1, 3)]
    right: Tree = ("int", rng.choice(CONSTANTS)) if rng.random() < 0.6 else size_tree(rng, names, 2)
    tree: Tree = (rng.choice(("<=", ">=", "<")), size_tree(rng, names, 3), right)
    free = rng.random() < 0.2
    facts: list[tuple[Tree, FactKind]] = []
    for name in names:
        if not free:
            facts.append(((">=", ("var", name), ("int", 0)), FactKind.ENFORCED))
            facts.append((("<=", ("var", name), ("int", 2**40)), FactKind.GLOBAL))
        if rng.random() < 0.4:
            bound = rng.choice((4, 16, 1024, 2048, 4096))
            facts.append((("<=", ("var", name), ("int", bound)), FactKind.ASSUMED))
    if len(names) > 1 and rng.random() < 0.3:
        facts.append((("<", ("var", names[1]), ("var", names[0])), FactKind.ENFORCED))
    domain = Domain(
        tuple(SYMBOLS[n] for n in names), tuple(Fact(to_sympy(t), kind, str(t)) for t, kind in facts)
    )
    claim = to_sympy(tree)
    chain = ProverChain()
    decision, first = chain.decide(claim, domain), chain.first_failure(claim, domain)
    ends = (*EXTREMES, INT64_MIN, INT64_MAX, -1) if free else EXTREMES
    asked = condition_text(claim)
    for _ in range(80):
        at = {n: rng.choice((rng.choice(ends), rng.randint(0, 40), rng.randint(0, 2**40))) for n in names}
        member = all(truth(t, at) for t, _ in facts)
        lasting = all(truth(t, at) for t, kind in facts if kind is not FactKind.ASSUMED)
        value = truth(tree, at)
        told = asked, at, decision, first
        if member:
            yield f"a point of {decision.verdict.value}"
            assert decision.reachable, told
            assert decision.verdict is not Verdict.ALWAYS_FINE or value, told
            assert decision.verdict is not Verdict.ALWAYS_WRONG or not value, told
        if lasting and decision.safe_when is not None:
            region = decision.safe_when.xreplace({SYMBOLS[n]: v for n, v in at.items()})
            yield f"a point {'inside' if value else 'outside'} of a region"
            assert bool(region) is value, told
        if lasting and not value and min(at.values()) >= 0:
            assert first.status is not FailureStatus.NEVER, told
            if first.at is not None:
                yield "a failure and the first one"
                key = sum(at[n] for n in first.at), [at[n] for n in first.at]
                assert (sum(first.at.values()), list(first.at.values())) <= key, told


def test_no_point_refutes_an_answer() -> None:
    seen: set[str] = set()

    @given(st.integers(min_value=0, max_value=2**40))
    @settings(max_examples=50, deadline=None)
    def no_point_refutes_it(seed: int) -> None:
        seen.update(check(seed))

    no_point_refutes_it()
    assert seen == {
        *(f"a point of {verdict.value}" for verdict in Verdict),
        "a point inside of a region",
        "a point outside of a region",
        "a failure and the first one",
    }


def test_answers_do_not_depend_on_hashes() -> None:
    code = (
        "import random\n"
        "from tests.symbolic.brute_force import random_case, to_sympy\n"
        "from relax_lint.symbolic.prover import ProverChain\n"
        "chain, rng = ProverChain(max_points=0), random.Random(5)\n"
        "for case in [random_case(rng) for _ in range(30)]:\n"
        "    claim, domain = to_sympy(case.claim), case.domain()\n"
        "    print(chain.decide(claim, domain), chain.first_failure(claim, domain))\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment(seed)
        ).stdout
        for seed in ("0", "12345")
    }
    (answer,) = answers
    assert len(answer.splitlines()) == 30


def environment(seed: str) -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(p or "." for p in sys.path)}
