"""Random functions with a shape heap: a sample of the search, and what it found."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from relax_lint.model import heap_uses
from relax_lint.model.heap_contents import Contents
from relax_lint.model.heap_state import Heaps
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
from tests.oracle.heap.several import (
    ALIASES,
    HEAP,
    Again,
    Body,
    Call,
    Choose,
    Function,
    New,
    On,
    Pack,
    Put,
    Several,
    Step,
    Unpack,
)
from tests.oracle.heap.several import smaller as fewer
from tests.oracle.heap.several import walk as walk_several
from tests.oracle.heap.several_random import random_several
from tests.oracle.heap.several_run import compare_several

REGRESSIONS: dict[str, Program] = {
    "a slot of one branch is not that of the other": (
        Match("a", "x", STORE, 0),
        Match("b", "x", STORE, 1),
        Branch("d", (Match("e", "k", STORE, 1),), ()),
        Allocate("g", 0, 1),
    ),
}

_READS = Function(
    "f", (("p", HEAP), ("q", HEAP)), Body((On("p", Allocate("v", 0, 0)),), "p"), HEAP, private=False
)
SEVERAL: dict[str, Several] = {
    "a public function is given an unwritten heap": Several(
        (_READS,), (New("h", 4), New("g", 4), Call("r", "f", ("h", "g")))
    ),
    "a heap of somebody else is used in the other branch first": Several(
        (
            Function(
                "f",
                (("p", HEAP),),
                Body(
                    (
                        Choose(
                            "r", Body((), "p"), Body((New("h", 4), On("p", Match("v", "k", STORE, 2))), "h")
                        ),
                        On("r", Allocate("w", 2, 2)),
                    ),
                    "r",
                ),
                HEAP,
                private=True,
            ),
        ),
        (New("h", 4), Call("r", "f", ("h",))),
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
def test_a_sample_of_programs_with_several_heaps() -> None:
    seen = Counter[str]()
    with Machine() as machine:
        for seed in range(8):
            seen += compare_several(random_several(seed, escapes=seed % 2 == 0), machine)
    assert seen["verdicts"] > 1000
    assert seen["calls on the machine"] > 10
    assert seen["calls here"] > 5
    assert seen["RLX205 fine, and said so"] > 100
    assert seen["RLX205 wrong, and said so"] > 10


def test_every_step_with_several_heaps_is_drawn() -> None:
    programs = [random_several(seed, escapes=True) for seed in range(300)]
    drawn = [step for program in programs for step in walk_several(program)]
    kinds = Counter[type[Step]](type(step) for step in drawn)
    assert min(kinds[kind] for kind in (New, On, Again, Pack, Unpack, Put, Choose, Call)) >= 100
    assert {step.way for step in drawn if isinstance(step, Again)} == {*ALIASES}
    functions = [function for program in programs for function in program.functions]
    assert {type(function.kind) for function in functions} == {str, tuple}
    assert {function.private for function in functions} == {False, True}
    quiet = [step for seed in range(100) for step in walk_several(random_several(seed))]
    assert not any(isinstance(step, Put) for step in quiet)


def test_a_smaller_program_has_one_step_or_function_less() -> None:
    program = SEVERAL["a heap of somebody else is used in the other branch first"]
    sizes = Counter((len(one.functions), sum(1 for _ in walk_several(one))) for one in fewer(program))
    # Without the function, without a step of it or of `main`, and without the branch with what is in it.
    assert sizes == {(0, 2): 1, (1, 5): 5, (1, 3): 1}


@pytest.mark.vm
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 1100, 100))
def test_random_programs_with_several_heaps_at_length(seed: int) -> None:
    with Machine() as machine:
        for each in range(seed, seed + 100):
            compare_several(random_several(each, escapes=each % 2 == 0), machine if each % 4 < 2 else None)


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


@pytest.mark.parametrize("program", SEVERAL.values(), ids=SEVERAL)
def test_what_was_found_with_several_heaps(program: Several) -> None:
    compare_several(program)


WEAKENED: dict[str, tuple[int, type[Any], str, Any]] = {
    "heaps that are one of several": (27, Heaps, "_may_be", lambda self, root: iter(())),
    "other names": (76, Heaps, "rename", lambda self, value, source: None),
}


@pytest.mark.parametrize("what", WEAKENED)
def test_the_search_finds_several_heaps_that_are_not_followed(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed, of, name, instead = WEAKENED[what]
    assert not _is_found_of_several(seed)
    monkeypatch.setattr(of, name, instead)
    assert _is_found_of_several(seed)


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


def _is_found_of_several(seed: int) -> bool:
    try:
        compare_several(random_several(seed, escapes=seed % 2 == 0))
    except Disagreement:
        return True
    return False


def _is_found(program: Program) -> bool:
    try:
        compare(program)
    except Disagreement:
        return True
    return False
