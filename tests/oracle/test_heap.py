"""Random functions with a shape heap: a sample of the search, and what it found."""

from __future__ import annotations

from collections import Counter

import pytest

from relax_lint.model.heap_state import Contents
from relax_lint.replay import Machine
from tests.oracle.heap.compare import Disagreement, compare
from tests.oracle.heap.program import STORE, Allocate, Branch, Match, Program, random_program

REGRESSIONS: dict[str, Program] = {
    "a slot of one branch is not that of the other": (
        Match("a", "x", STORE, 0),
        Match("b", "x", STORE, 1),
        Branch("d", (Match("e", "k", STORE, 1),), ()),
        Allocate("g", 0, 1),
    ),
}


@pytest.mark.vm
def test_a_sample_of_random_programs() -> None:
    seen = Counter[str]()
    with Machine() as machine:
        for seed in range(12):
            seen += compare(random_program(seed), machine)
    assert seen["verdicts"] > 1000
    assert seen["calls on the machine"] > 10


@pytest.mark.vm
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 1100, 100))
def test_random_programs_at_length(seed: int) -> None:
    with Machine() as machine:
        for each in range(seed, seed + 100):
            compare(random_program(each), machine)


@pytest.mark.parametrize("program", REGRESSIONS.values(), ids=REGRESSIONS)
def test_what_was_found(program: Program) -> None:
    compare(program)


def test_the_search_finds_slots_that_survive_their_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Contents, "join", lambda self, other: other)

    def is_found(seed: int) -> bool:
        try:
            compare(random_program(seed))
        except Disagreement:
            return True
        return False

    assert any(is_found(seed) for seed in range(100))
