"""Random functions with a shape heap: a sample of the search, and what it found."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from relax_lint.model import heap_uses
from relax_lint.model.heap_contents import Contents
from relax_lint.model.operations import KernelCall
from relax_lint.replay import Machine
from relax_lint.vm.builtins import NULLS, SHAPE_HEAP
from tests.oracle.heap.compare import Disagreement, compare
from tests.oracle.heap.program import (
    STORE,
    WAYS,
    Allocate,
    Branch,
    Escape,
    Match,
    Program,
    random_program,
    smaller,
    walk,
)

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
@pytest.mark.parametrize("way", WAYS)
def test_a_packed_function_puts_a_number_into_the_heap_that_it_is_given(way: str) -> None:
    program = Match("a", "x", STORE, 0), Match("b", "z", STORE, 1), Escape("e", way, 1), Allocate("g", 0, 1)
    with Machine() as machine:
        seen = compare(program, machine)
    # Without the call what fits depends on `z`; with it, four bytes for each of five elements never do.
    assert seen["calls here"] == 12
    assert seen["RLX101 wrong"] == 48
    assert {step.way for one in smaller(program) for step in walk(one) if isinstance(step, Escape)} >= {
        WAYS[0]
    }


def test_every_way_is_drawn() -> None:
    drawn = [step for seed in range(300) for step in walk(random_program(seed, escapes=True))]
    ways = Counter(step.way for step in drawn if isinstance(step, Escape))
    assert ways.keys() == {*WAYS}
    assert min(ways.values()) >= 10
    assert not any(isinstance(step, Escape) for seed in range(100) for step in walk(random_program(seed)))


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

    assert any(_is_found(random_program(seed)) for seed in range(100))


def test_the_search_finds_heaps_that_escape_in_a_tuple(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_arguments(context: Any, op: Any) -> None:
        if op.callee == SHAPE_HEAP or op.callee in NULLS:
            before(context, op)
        elif context.heaps.among(set(op.arguments)):
            context.heaps.escape(set(op.arguments))

    before = heap_uses._kernel_call
    monkeypatch.setattr(heap_uses, "_HANDLERS", {**heap_uses._HANDLERS, KernelCall: only_arguments})
    # Three of the first 81 programs.
    assert _is_found(random_program(34, escapes=True))
    monkeypatch.undo()
    assert not _is_found(random_program(34, escapes=True))


def _is_found(program: Program) -> bool:
    try:
        compare(program)
    except Disagreement:
        return True
    return False
