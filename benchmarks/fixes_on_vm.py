"""Fixes on the virtual machine: how many calls of fixed modules were made, and what they came to.

python -m benchmarks.fixes_on_vm [--modules 40] [--seed 1] [--layers 2]

Every call is made before and after the fix, on the naive and on the pooled allocator: the examples of the
rule pages (fixed in the text and in the module, with each strategy), generated programs that compute,
programs with sizes of every form, and a transformer that was planned under a bound. A call that does
something else than it should ends the count with an error.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import tvm
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from benchmarks.common import counts, options
from relax_lint.replay import Machine
from tests.fixes.programs import PROGRAMS, Program
from tests.fixes.round_trips import OUTCOMES, STRATEGIES, Trip
from tests.fixes.test_on_vm import (
    EXAMPLES,
    GENERATE,
    trips_of,
    trips_of_bounds,
    trips_of_programs,
    trips_of_transformer,
)
from tests.programs.transformer import CONTEXT

PER_MODULE = 5


def generated(machine: Machine, modules: int, start: int, strategy: str) -> list[Trip]:
    """The calls of `modules` generated modules."""
    found: list[Trip] = []

    @seed(start)
    @settings(max_examples=modules, deadline=None, phases=GENERATE, database=None)
    @given(programs=st.lists(PROGRAMS, min_size=PER_MODULE, max_size=PER_MODULE))
    def run(programs: list[Program]) -> None:
        found.extend(trips_of_programs(programs, machine, strategy))

    run()
    return found


def main() -> None:
    arguments = options(__doc__, modules=40, seed=1, layers=2)
    found: dict[str, Counter[str]] = defaultdict(Counter)

    def add(name: str, trips: list[Trip]) -> None:
        found[name].update(f"({OUTCOMES.index(trip.outcome) + 1})" for trip in trips)
        found[name]["calls"] += len(trips)

    with Machine(time_limit=600) as machine:
        for example in EXAMPLES:
            add(f"pages, {example.name[:6]}", trips_of(example, machine))
        for strategy in STRATEGIES:
            add(f"generated, {strategy}", generated(machine, arguments.modules, arguments.seed, strategy))
            for number in range(max(arguments.modules // 4, 1)):
                trips = trips_of_bounds(25, arguments.seed + number, machine, strategy)
                add(f"sizes, {strategy}", trips)
        trips = trips_of_transformer(arguments.layers, (1, 16, 64, CONTEXT + 1), machine)
        add(f"transformer, {arguments.layers} layers", trips)
    print(f"TVM {tvm.__version__}")
    numbers = [f"({number})" for number in range(1, len(OUTCOMES) + 1)]
    print("\n".join(f"{number} {outcome}" for number, outcome in zip(numbers, OUTCOMES, strict=True)) + "\n")
    print(counts("calls of", (*numbers, "calls"), {name: row for name, row in found.items() if row["calls"]}))


if __name__ == "__main__":
    main()
