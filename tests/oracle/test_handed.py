"""Tensors that functions hand on to each other: a sample of the search, which forms it draws, and which faults it finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from relax_lint.analysis import callees, contents, effects, moved, offsets, returned_offsets
from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.certainty import Certainty
from relax_lint.facts.kernel_arguments import ArgumentFacts
from relax_lint.model import program as memory_program
from relax_lint.model.operations import FunctionCall
from relax_lint.symbolic.quantity import Unknown
from tests.oracle.as_often import assert_as_often
from tests.oracle.handed.compare import compare
from tests.oracle.handed.program import (
    FILL_KEPT,
    KEEP,
    KEPT,
    TWINS,
    Assert,
    Branch,
    Cast,
    Closure,
    Field,
    Function,
    InPlace,
    Invoke,
    Kernel,
    Packed,
    Pair,
    Place,
    Program,
    Store,
    all_steps,
    smaller,
    walk,
)
from tests.oracle.handed.random_programs import some
from tests.oracle.passing import Disagreement, Unusable

SEED = 7


@pytest.mark.vm
def test_a_sample_of_random_programs() -> None:
    seen: Counter[str] = Counter()
    for program in some(14, 3):
        try:
            seen += compare(program, machine=True)
        except Unusable:
            seen["not taken"] += 1
    assert seen["programs"] > 10
    assert seen["calls on the machine: ok"] > 3
    assert seen["calls on the machine: refused"] > 3
    least = {
        "RLX101 fine": 162,
        "RLX101 wrong": 12,
        "RLX301 fine": 240,
        "RLX303 fine": 123,
        "RLX303 wrong": 42,
        "overwritten": 92,
        "unwritten": 48,
        "right calls": 28,
    }
    assert_as_often(seen, least)


def _forms(program: Program) -> Iterator[str]:
    steps = list(all_steps(program))
    placed = {step.name for step in steps if isinstance(step, Place) and step.offset}
    for step in walk(program.steps):
        if isinstance(step, Function):
            captured = repr(step.steps)
            if any(f"'{name}'" in captured for name in placed):
                yield "captured at an offset"
        elif isinstance(step, Closure) and placed & {*step.held}:
            yield "held at an offset"
        elif isinstance(step, Invoke):
            yield "a closure is called"
    for step in steps:
        match step:
            case Function(recursive=True):
                yield "recursion"
            case Function(types=types) if "closure" in types:
                yield "a closure that is passed"
            case Function(steps=inside) if any(isinstance(one, Function) for one in inside):
                yield "a function inside of one inside"
            case Function(parameters=parameters) if step.result not in parameters and step.result in placed:
                yield "given back at an offset"
            case Field() if any(
                isinstance(p, Pair) and p.name == step.tuple and p.items[0][0] in "me" for p in steps
            ):
                yield "a closure in a tuple"
            case InPlace(kernel="sly"):
                yield "a write that is not declared"
            case Cast() if not step.extent.isdigit():
                yield "a new symbol"
            case Place(extent="0") if not step.flag:
                yield "no element"
            case Place(offset=2):
                yield "beside the unit"
            case Assert(condition=condition) if condition != "c":
                yield "an assertion of a tensor"
            case Assert() if step.shown:
                yield "an assertion that shows tensors"
            case Packed(function=function) if function in (KEPT, FILL_KEPT):
                yield "what was kept"
            case Packed(function=function) if function == TWINS:
                yield "two outputs of a packed function"
            case Branch():
                yield "a branch"


def test_every_form_is_drawn() -> None:
    seen = Counter(form for program in some(400, SEED) for form in {*_forms(program)})
    assert {form: count for form, count in seen.items() if count < 5} == {}
    assert len(seen) == 17, seen


def test_programs_get_smaller() -> None:
    for program in some(20, SEED):
        sizes = [len(candidate.text) for candidate in smaller(program)]
        assert sizes
        assert max(sizes) <= len(program.text) + 40


@pytest.mark.vm
def test_what_the_search_has_found() -> None:
    """A packed function gives back a tensor on the bytes of another one, and a kernel gets both."""
    steps = (
        Store("s1", "128"),
        Place("t2", "s1", 64, "4", False),
        Place("t4", "s1", 64, "4", False),
        Kernel("k5", "fill", ("t4",)),
        Packed("h6", KEEP, ("t4",), None),
        Cast("u7", "h6", "4"),
        Kernel("k8", "turn", ("u7", "t2")),
    )
    assert compare(Program((), steps, ("x",)), machine=True)["overwritten"] > 0


# -- faults that were found by hand -------------------------------------------------------------------


def _nothing_captured(patch: pytest.MonkeyPatch) -> None:
    def known(
        self: moved.Moved, function: object, parameters: dict[str, dict[int, object]], *, in_memory: bool
    ) -> object:
        return dict(parameters.get(function.name, {}))  # type: ignore[attr-defined]

    patch.setattr(moved.Moved, "_with", known)


def _results_start_at_zero(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(returned_offsets.ReturnedOffsets, "of", lambda self, *more: offsets.joined_starts())


def _unknown_results_start_at_zero(patch: pytest.MonkeyPatch) -> None:
    for module in (offsets, returned_offsets):
        patch.setattr(module, "unless_given", lambda given, *, kept: offsets._ZERO)


def _nobody_keeps(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(moved.Moved, "is_given_to", lambda self, keeps: False)


def _only_declared(patch: pytest.MonkeyPatch) -> None:
    before = effects.superseded

    def superseded(call: object, effect: effects.Effect) -> object:
        declared = effects.declared_in_place(call)  # type: ignore[arg-type]
        return dict.fromkeys(declared, Certainty.MUST) if declared else before(call, effect)  # type: ignore[arg-type]

    patch.setattr(contents, "superseded", superseded)


def _never_empty(patch: pytest.MonkeyPatch) -> None:
    before = ArgumentFacts._empty

    def empty(self: ArgumentFacts, start: object) -> object:
        found = before(self, start)  # type: ignore[arg-type]
        return None if isinstance(found, Unknown) else found

    patch.setattr(ArgumentFacts, "_empty", empty)


def _shown_is_read(patch: pytest.MonkeyPatch) -> None:
    def read(self: contents.Contents, op: object, state: object) -> None:
        self._read_all(op, op.operands, state)  # type: ignore[arg-type, attr-defined]

    patch.setattr(contents.Contents, "_assert", read)


def _closures_hold_nothing(patch: pytest.MonkeyPatch) -> None:
    def passed(self: callees.Callees, call: FunctionCall, function: memory_program.Function) -> object:
        return dict(zip(function.parameters, map(AccessPath, call.arguments), strict=False))

    patch.setattr(callees.Callees, "passed", passed)


FAULTS = {
    "what is captured starts at zero": (_nothing_captured, 93),
    "results start at zero": (_results_start_at_zero, 73),
    "results of unknown calls start at zero": (_unknown_results_start_at_zero, 1),
    "nobody keeps what is moved": (_nobody_keeps, 365),
    "calls in place write what they declare": (_only_declared, 549),
    "a tensor of unknown extents has elements": (_never_empty, 251),
    "an assertion reads what it shows, and not its condition": (_shown_is_read, 31),
    "a closure holds nothing": (_closures_hold_nothing, 93),
}
"""What puts a fault back, and a program of `SEED` that finds it."""


@pytest.fixture(scope="module")
def drawn() -> list[Program]:
    return list(some(550, SEED))


@pytest.mark.parametrize("fault", FAULTS)
def test_the_search_finds(fault: str, drawn: list[Program], monkeypatch: pytest.MonkeyPatch) -> None:
    put_back, number = FAULTS[fault]
    compare(drawn[number], machine=False)
    put_back(monkeypatch)
    with pytest.raises(Disagreement):
        compare(drawn[number], machine=False)
