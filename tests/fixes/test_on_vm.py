"""Fixes of modules on the virtual machine, with both allocators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest
import tvm
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pages.page import Example, examples
from pages.planned import planned

from relax_lint.config import Config, with_options
from relax_lint.replay import Machine, Scalar, Tensor
from relax_lint.replay.modules import load_module

from .programs import PROGRAMS, Program, module
from .round_trips import STRATEGIES, Call, RoundTrips

# The pages of RLX9xx show what cannot be read, or what crashes TVM.
EXAMPLES = [example for example in examples() if not example.name.startswith("RLX9")]
# A run on the machine is too slow to shrink with.
GENERATE = (Phase.explicit, Phase.generate)
LENGTHS = range(7)
VALUES: dict[str, Any] = {"true": True, "false": False}


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with Machine() as machine:
        yield machine


def read(example: Example) -> Any:
    """The module of an example."""
    return tvm.ir.load_json(planned(example.text)) if example.planned else load_module(example.text, "script")


def trips_of(example: Example, machine: Machine, strategy: str) -> Counter[str]:
    """What the calls of one example came to; nothing where no fix changes it."""
    options = {key: VALUES.get(value, [value]) for key, value in example.options}
    trips = RoundTrips(machine, read(example), with_options(Config(), options), strategy)
    if not trips.is_changed:
        return Counter()
    trips.assert_before_kernels()
    stated = (Call(run.function, run.inputs) for run in example.runs)
    return Counter(trip.outcome for trip in trips.trips(dict.fromkeys((*trips.calls(), *stated))))


@pytest.mark.vm
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_of_the_rule_pages(example: Example, strategy: str, machine: Machine) -> None:
    trips_of(example, machine, strategy)


def trips_of_programs(programs: list[Program], machine: Machine, strategy: str) -> Counter[str]:
    """What the calls of a module of generated functions came to, at small lengths."""

    def expected(call: Call) -> tuple[float, ...]:
        return programs[int(call.function[1:])].result(call.inputs)

    found = RoundTrips(machine, load_module(module(programs), "script"), Config(), strategy, expected)
    found.assert_before_kernels()
    return Counter(trip.outcome for trip in found.trips(calls_of(programs)))


def calls_of(programs: Sequence[Program]) -> Iterator[Call]:
    """Every function at every small length, on both ways through it."""
    for number, program in enumerate(programs):
        ways = [(Scalar(True),), (Scalar(False),)] if program.branch else [()]
        for length, way in product(LENGTHS, ways):
            yield Call(f"f{number}", (Tensor("float32", (length,)), *way))


@pytest.mark.vm
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=3, deadline=None, phases=GENERATE)
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
