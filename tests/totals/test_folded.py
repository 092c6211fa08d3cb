"""The events of calls that are alike are found once, and the totals are the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import pytest
import tvm

from benchmarks.growth_programs import HEAD, twice
from benchmarks.growth_programs import module as module_of
from relax_lint.model.builder import build_program
from relax_lint.model.operations import FunctionCall, If
from relax_lint.model.program import Function, Program
from relax_lint.totals import folded, inlined
from relax_lint.totals.compute import measure
from relax_lint.totals.folded import events_of
from relax_lint.totals.formula import never_negative_symbols
from relax_lint.totals.inlined import paths_of
from relax_lint.totals.peaks import Group, peak
from relax_lint.totals.plans import Plans
from relax_lint.totals.pools import pooled
from relax_lint.totals.quantities import Indeterminate
from relax_lint.totals.walk import ExecMode, Inventory, Walk
from relax_lint.vm.allocators import Allocator
from tests.totals.call_graphs import module

T = TypeVar("T")
CASES = (
    (Inventory.STORAGES, ExecMode.BYTECODE, 1),
    (Inventory.STORAGES, ExecMode.BYTECODE, 2),
    (Inventory.STORAGES, ExecMode.COMPILED, 2),
    (Inventory.TENSORS, ExecMode.BYTECODE, 1),
)


def program(text: str) -> Program:
    return build_program(tvm.script.from_source(text.removeprefix(HEAD), check_well_formed=False))


def or_reason(compute: Callable[[], T]) -> T | str:
    try:
        return compute()
    except Indeterminate as reason:
        return str(reason)


def compare(found: Program) -> int:
    """The totals of every path with and without folding; how many calls were folded."""
    plans, calls_folded = Plans.of(found), 0
    for own in found.functions:
        positive = never_negative_symbols(own)
        for inventory, mode, calls in CASES:
            wanted = paths_of(plans, own, inventory, None, mode, calls)
            events = events_of(plans, own, inventory, None, mode, calls)
            assert len(events) == len(wanted)
            for ours, theirs in zip(events, wanted, strict=True):
                calls_folded += len(ours.inside)
                for group in (Group(), Group(scope="ipc_memory")):
                    assert peak([ours], positive, group) == peak([theirs], positive, group)
                for size in (4096, 64):
                    pools = [or_reason(partial(pooled, [walk], size, positive)) for walk in (ours, theirs)]
                    assert pools[0] == pools[1]
    return calls_folded


def test_the_totals_are_those_of_following_every_call() -> None:
    assert sum(compare(program(module(random.Random(seed)))) for seed in range(20, 25)) > 50


def test_no_call_is_followed_that_is_like_another() -> None:
    """Following every call would take 2**24 times as long as one."""
    found = program(twice(24))
    top = next(function for function in found.functions if function.name == "f23")
    totals = measure(found, top)
    # Each function holds its own storage while it calls the one below.
    assert totals.reserved[Allocator.POOLED] == 24 * 4096
    activations = Plans.of(found).activations
    assert len({key[0] for key in activations}) == 23
    assert len(activations) <= 2 * 23


def test_a_path_that_is_too_long_to_be_told_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inlined, "MAX_OPERATIONS", 100)
    found = program(twice(24))
    top = next(function for function in found.functions if function.name == "f23")
    with pytest.raises(Indeterminate, match="more than 100 operations"):
        paths_of(Plans.of(found), top, Inventory.STORAGES)


def test_a_recursion_is_told_from_wherever_it_is_entered() -> None:
    """`f` and `g` call each other: what one says of the other is no fact about the other."""
    functions = [
        f'    @R.function(pure=False)\n    def {name}(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):\n'
        f"        y = Module.{other}(x)\n        return y\n"
        for name, other in (("f", "g"), ("g", "f"))
    ]
    found = program(module_of(functions))
    for _ in range(2):
        for own in found.functions:
            with pytest.raises(Indeterminate, match=f"`{own.name}` calls itself"):
                events_of(Plans.of(found), own, Inventory.STORAGES)


def test_calls_that_are_many_levels_down_are_followed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folded, "MAX_DEPTH", 2)
    assert compare(program(twice(7))) > 0


def followed(kind: type[inlined.InlinedWalker], found: Program, own: Function, mode: ExecMode) -> Walk | str:
    """Two calls of a function, or why they cannot be followed."""
    return or_reason(lambda: kind(Plans(found), Inventory.STORAGES, mode).run(own, None, 2))


class FollowsBoth(inlined.InlinedWalker):
    """Takes no call for the same as another."""

    def run(self, function: Function, binding: object, calls: int = 1) -> Walk:
        self._walk = Walk(allocations=self._allocations, operations=self._operations)
        self._run(function, None, calls)
        self._walk.taken = tuple(self.taken)
        return self._walk


def without_scopes(walk: Walk | str) -> object:
    """What two walks have in common that are the same: each has objects of its own for the symbols."""
    if isinstance(walk, str):
        return walk
    calls = [(id(call.op), call.moment, call.function.name, call.constants) for call in walk.calls]
    return walk.allocations, walk.events, walk.steps, walk.operations, walk.placed, walk.taken, calls


def test_a_second_call_on_one_path_is_the_first_one_again() -> None:
    """It is put together of the first, and has to be what following both gives."""
    repeated = 0
    for found in [program(module(random.Random(seed))) for seed in range(20, 26)]:
        for own in found.functions:
            for mode in ExecMode:
                ours = followed(inlined.InlinedWalker, found, own, mode)
                assert without_scopes(ours) == without_scopes(followed(FollowsBoth, found, own, mode))
                repeated += isinstance(ours, Walk) and not own.body.of(If, FunctionCall)
    assert repeated > 8


def test_the_events_of_two_calls_are_those_of_one_and_of_one_more() -> None:
    repeated = 0
    for found in [program(module(random.Random(seed))) for seed in range(20, 26)]:
        for own in found.functions:
            ours = followed(FollowsBoth, found, own, ExecMode.BYTECODE)
            if isinstance(ours, Walk) and not own.body.of(If, FunctionCall):
                (twice,) = events_of(Plans(found), own, Inventory.STORAGES, calls=2)
                assert not isinstance(twice, Walk)
                assert (twice.allocations, twice.events) == (ours.allocations, ours.events)
                repeated += 1
    assert repeated > 4
