"""The subprocess that measures packed functions: `LD_PRELOAD=meter.so python -m tests.totals.measuring_packed`.

One JSON line for each run: what objects hold of the device and the most that came from the heap, predicted and
measured.
"""

from __future__ import annotations

import json

import tvm
from tvm import relax

from relax_lint.model.builder import build_program
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.totals.packed_memory import measure_packed
from relax_lint.totals.quantities import Quantity, evaluate
from relax_lint.vm.allocators import Allocator
from tests.totals.corpus_packed import CASES
from tests.totals.metering import TARGET, Meter, built


def main() -> None:
    """Measure the corpus. On a CPU device and host are the same memory."""
    meter = Meter()
    target = tvm.target.Target(TARGET)
    for case in CASES:
        with target:
            lowered = relax.get_default_pipeline(target)(case.make())
        executable = built(lowered)
        program = build_program(lowered)
        function = next(function for function in program.functions if function.name == case.entry)
        kernels = KernelMemory(lowered, TARGET)
        formulas = measure_packed(program, function, kernels)
        for run in case.runs:
            real = meter.one_call(executable, case.entry, run, Allocator.NAIVE)
            here = measure_packed(program, function, kernels, run.binding)
            scratch = [call.host for call in here.calls if call.scratch]
            row = {
                "case": case.name,
                "binding": run.binding,
                "measured": real["others"],
                "predicted": sum(_value(size, run.binding) for size in here.objects),
                "formula": sum(_value(size, run.binding) for size in formulas.objects),
                "heap": real["heap"],
                "heap at most": max((_value(size, run.binding) for size in scratch), default=0),
                "not counted": dict(here.uncounted),
            }
            print(json.dumps(row), flush=True)


def _value(size: Quantity, binding: dict[str, int]) -> int:
    return size if isinstance(size, int) else evaluate(size, binding)


if __name__ == "__main__":
    main()
