"""Fixes of modules on the virtual machine, with both allocators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any

import pytest
import sympy
import tvm
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import relax_lint
from relax_lint.replay import Machine, Scalar, Tensor
from relax_lint.replay.modules import load_module
from relax_lint.settings.config import Config, with_options
from tests.fixes.fixing import fixed
from tests.fixes.programs import PROGRAMS, Program, module
from tests.fixes.round_trips import REFUSED, RIGHT, SAME, STOPPED, STRATEGIES, Call, RoundTrips, Trip, is_same
from tests.pages.page import Example, examples
from tests.pages.planned import planned
from tests.programs.transformer import CONTEXT, lowered
from tests.soundness import programs as bounds

# The pages of RLX9xx show what cannot be read, or what crashes TVM.
EXAMPLES = [example for example in examples() if not example.name.startswith("RLX9")]
# A run on the machine is too slow to shrink with.
GENERATE = (Phase.explicit, Phase.generate)
LENGTHS = range(7)
VALUES: dict[str, Any] = {"true": True, "false": False}


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with Machine(time_limit=600) as machine:
        yield machine


@lru_cache(maxsize=8)
def _loaded(text: str) -> Any:
    """A text that no strategy changes is read once."""
    return load_module(text, "script")


def read(example: Example) -> Any:
    """The module of an example."""
    return tvm.ir.load_json(planned(example.text)) if example.planned else _loaded(example.text)


def trips_of(example: Example, machine: Machine) -> list[Trip]:
    """The calls of one example before and after its fixes, those of the text and those of the module, with each
    strategy; each different module that comes out is called once.
    """
    module = read(example)
    options = {key: VALUES.get(value, [value]) for key, value in example.options}
    stated = [Call(run.function, run.inputs) for run in example.runs]
    found: list[Trip] = []
    seen = [module]
    for way, made, config in _fixed(example, module, with_options(Config(), options)):
        if not any(is_same(made, other) for other in seen):
            seen.append(made)
            trips = RoundTrips(machine, module, made, config, way)
            trips.assert_before_kernels()
            found += trips.trips(dict.fromkeys((*trips.calls(), *stated)))
    return found


def _fixed(example: Example, module: Any, config: Config) -> Iterator[tuple[str, Any, Config]]:
    for strategy in STRATEGIES:
        chosen = replace(config, fix_strategy=strategy)
        yield f"{strategy} in the module", relax_lint.fix(module, chosen), chosen
        if not example.planned:
            yield f"{strategy} in the text", _loaded(fixed(example.text, chosen).text), chosen


@pytest.mark.vm
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_of_the_rule_pages(example: Example, machine: Machine) -> None:
    trips_of(example, machine)


def trips_of_programs(programs: list[Program], machine: Machine, strategy: str) -> list[Trip]:
    """The calls of a module of generated functions at small lengths."""

    def expected(call: Call) -> tuple[float, ...]:
        return programs[int(call.function[1:])].result(call.inputs)

    config = Config(fix_strategy=strategy)
    old = load_module(module(programs), "script")
    found = RoundTrips(machine, old, relax_lint.fix(old, config), config, strategy, expected)
    found.assert_before_kernels()
    return list(found.trips(calls_of(programs)))


def calls_of(programs: Sequence[Program]) -> Iterator[Call]:
    """Every function at every small length, on both ways through it."""
    for number, program in enumerate(programs):
        ways = [(Scalar(True),), (Scalar(False),)] if program.branch else [()]
        for length, way in product(LENGTHS, ways):
            yield Call(f"f{number}", (Tensor("float32", (length,)), *way))


@pytest.mark.vm
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=2, deadline=None, phases=GENERATE)
@given(programs=st.lists(PROGRAMS, min_size=4, max_size=6))
def test_generated_programs(programs: list[Program], strategy: str, machine: Machine) -> None:
    trips_of_programs(programs, machine, strategy)


@pytest.mark.vm
@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=100, deadline=None, phases=GENERATE)
@given(programs=st.lists(PROGRAMS, min_size=4, max_size=6))
def test_generated_programs_at_length(programs: list[Program], strategy: str, machine: Machine) -> None:
    trips_of_programs(programs, machine, strategy)


def trips_of_bounds(count: int, start: int, machine: Machine, strategy: str) -> list[Trip]:
    """The calls of the programs with which the verdicts of the bounds rules are tested: sizes, offsets and
    extents of every form, on which nothing computes.
    """
    functions = bounds.programs(count, start)
    old = load_module(bounds.module(functions), "script")
    # That nothing writes what these programs return is no matter of bounds.
    config = Config(fix_strategy=strategy, select=("RLX1",))
    found = RoundTrips(machine, old, relax_lint.fix(old, config), config, strategy)
    calls = product((function.name for function in functions), LENGTHS)
    return list(found.trips(Call(name, (Tensor("int8", (length,)),)) for name, length in calls))


@pytest.mark.vm
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_programs_of_the_bounds_rules(strategy: str, machine: Machine) -> None:
    outcomes = {trip.outcome for trip in trips_of_bounds(8, 1, machine, strategy)}
    assert outcomes <= {SAME, REFUSED, RIGHT, STOPPED}


@pytest.mark.vm
@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("start", range(2, 12))
def test_programs_of_the_bounds_rules_at_length(start: int, strategy: str, machine: Machine) -> None:
    trips_of_bounds(25, start, machine, strategy)


def trips_of_transformer(layers: int, lengths: Sequence[int], machine: Machine) -> list[Trip]:
    """Calls of a transformer that was planned under a bound, each weight 0, 1, 2, ... modulo 64."""
    old = lowered(layers, bounded=True, stage="killed")
    trips = RoundTrips(machine, old, relax_lint.fix(old), Config(), "auto")
    trips.assert_before_kernels()
    assert [op.fact.condition for op in trips.inserted("forward") if op.fact] == [
        sympy.Symbol("n", integer=True) <= CONTEXT
    ]
    calls = (trips.call("forward", {"n": length}) for length in lengths)
    return list(trips.trips(call for call in calls if call is not None))


@pytest.mark.vm
def test_a_planned_transformer_refuses_what_it_was_not_planned_for(machine: Machine) -> None:
    trips = trips_of_transformer(1, (4, CONTEXT + 1), machine)
    assert [trip.outcome for trip in trips] == [SAME, SAME, REFUSED, REFUSED]


@pytest.mark.vm
@pytest.mark.slow
def test_a_planned_transformer_of_32_layers(machine: Machine) -> None:
    trips = trips_of_transformer(32, (1, 16, CONTEXT + 1), machine)
    assert [trip.outcome for trip in trips] == [*[SAME] * 4, *[REFUSED] * 2]
