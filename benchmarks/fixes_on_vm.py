"""Fixes on the virtual machine: how many calls of fixed modules were made, and what they came to.

    python benchmarks/fixes_on_vm.py [--modules 40] [--seed 1] [--layers 2]

Every call is made before and after the fix, on the naive and on the pooled allocator: the examples of the
rule pages (fixed in the text and in the module, with each strategy), generated programs that compute,
programs with sizes of every form, and a transformer that was planned under a bound. A call that does
something else than it should ends the count with an error.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tvm
from hypothesis import given, seed, settings
from hypothesis import strategies as st

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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modules", type=int, default=40, help=f"generated, of {PER_MODULE} functions each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layers", type=int, default=2)
    arguments = parser.parse_args()
    table: dict[str, Counter[str]] = defaultdict(Counter)
    with Machine(time_limit=600) as machine:
        for example in EXAMPLES:
            table[f"pages, {example.name[:6]}"].update(trip.outcome for trip in trips_of(example, machine))
        for strategy in STRATEGIES:
            trips = generated(machine, arguments.modules, arguments.seed, strategy)
            table[f"generated, {strategy}"].update(trip.outcome for trip in trips)
            for number in range(max(arguments.modules // 4, 1)):
                trips = trips_of_bounds(25, arguments.seed + number, machine, strategy)
                table[f"sizes, {strategy}"].update(trip.outcome for trip in trips)
        lengths = (1, 16, 64, CONTEXT + 1)
        trips = trips_of_transformer(arguments.layers, lengths, machine)
        table[f"transformer, {arguments.layers} layers"].update(trip.outcome for trip in trips)
    print(f"TVM {tvm.__version__}")
    for number, outcome in enumerate(OUTCOMES, start=1):
        print(f"({number}) {outcome}")
    head = "".join(f"{f'({number})':>7}" for number in range(1, len(OUTCOMES) + 1))
    print(f"{'calls of':<24}{head}{'all':>7}")
    total = sum(table.values(), Counter())
    for name, counts in [*table.items(), ("all", total)]:
        if counts:
            row = "".join(f"{counts[outcome]:>7}" for outcome in OUTCOMES)
            print(f"{name:<24}{row}{counts.total():>7}")


if __name__ == "__main__":
    main()
