"""`--bind` of two symbols where the pool has no formula: one value, a range, or nothing for each."""

from __future__ import annotations

from itertools import product

import pytest
import tvm

from relax_lint.model.builder import build_program
from relax_lint.totals.compute import measure
from relax_lint.vm.allocators import Allocator
from tests.memory.conftest import Memory
from tests.memory.programs import HEADER
from tests.memory.test_budget import TWO


@pytest.mark.parametrize(
    ("b", "n"), [(range(8, 9), range(40)), (range(1, 9), range(100, 101)), (range(1, 5), range(40))]
)
def test_every_value_of_the_ranges_is_tried(memory: Memory, b: range, n: range) -> None:
    bound = [
        f"{name}={values[0]}" + (f"..{values[-1]}" if len(values) > 1 else "")
        for name, values in (("b", b), ("n", n))
    ]
    options = ("--bind", bound[0], "--bind", bound[1], "--output-format", "json")
    over = memory(TWO, *options).report["memory"][0]["over_range"]["reserved.pooled"]
    program = build_program(tvm.script.from_source(TWO.removeprefix(HEADER)))
    sizes = []
    for at in product(b, n):
        binding = dict(zip("bn", at, strict=True))
        size = measure(program, program.functions[0], binding=binding).reserved[Allocator.POOLED]
        assert isinstance(size, int)
        sizes.append(size)
    assert (over["minimum"], over["maximum"]) == (min(sizes), max(sizes))


@pytest.mark.parametrize("bound", ["b=1..8", "n=1..8"])
def test_with_a_symbol_that_may_be_anything_there_is_no_greatest(memory: Memory, bound: str) -> None:
    (found,) = memory(TWO, "--bind", bound, "--output-format", "json").report["memory"]
    assert "reserved.pooled" not in (found.get("over_range") or {})
