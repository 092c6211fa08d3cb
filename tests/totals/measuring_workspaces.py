"""The subprocess that measures workspaces: `LD_PRELOAD=meter.so python -m tests.totals.measuring_workspaces`.

One JSON line for each run of a case and allocator: what the totals say of the lowered module, as values and as
formulas, and what the run really asked for and obtained.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Iterator
from typing import Any

import tvm
from tvm import relax

from relax_lint.model.builder import build_program
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.totals.quantities import evaluate
from relax_lint.totals.workspaces import WorkspaceTotals, measure_workspaces
from relax_lint.vm.allocators import Allocator
from tests.totals.cases import Case
from tests.totals.metering import TARGET, Meter, built


def measured(meter: Meter, case: Case) -> Iterator[dict[str, Any]]:
    """One row for each run and allocator."""
    target = tvm.target.Target(TARGET)
    with target:
        lowered = relax.get_default_pipeline(target)(case.make())
    executable = built(lowered)
    program = build_program(lowered)
    function = next(function for function in program.functions if function.name == case.entry)
    kernels = KernelMemory(lowered, TARGET)
    formulas = measure_workspaces(program, function, kernels)
    for run in case.runs:
        here = measure_workspaces(program, function, kernels, binding=run.binding)
        for allocator in Allocator:
            real = meter.one_call(executable, case.entry, run, allocator)
            yield {
                "case": case.name,
                "binding": run.binding,
                "allocator": allocator.value,
                "measured": [real["asked"], real["pool"], real["together"]],
                "predicted": _figures(here, allocator, run.binding),
                "formulas": _figures(formulas, allocator, run.binding),
            }


def _figures(found: WorkspaceTotals, allocator: Allocator, binding: dict[str, int]) -> list[int | str]:
    return [_value(size, binding) for size in (found.requested, found.held, found.together[allocator])]


def _value(size: Any, binding: dict[str, int]) -> int | str:
    if isinstance(size, Unknown):
        return size.reason
    return size if isinstance(size, int) else evaluate(size, binding)


def main() -> None:
    """Measure the cases of a corpus."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", default="tests.totals.corpus_workspaces")
    options = parser.parse_args()
    meter = Meter()
    for case in importlib.import_module(options.corpus).CASES:
        for row in measured(meter, case):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
