"""What `MemoryLint` costs: compile time of a transformer with the instrument against without.

python -m benchmarks.instrument [--layers 32] [--runs 5]

Runs with and without alternate in one process; times are CPU time, the ratio is that of the medians. "with
bounds" declares the bound of the symbolic length: that gives one finding, whose origin is searched for.
"""

from __future__ import annotations

from statistics import median
from typing import Any

import tvm

import relax_lint
from benchmarks.common import in_turns, options, table
from tests.programs.transformer import exported

MODES: dict[str, Any] = {"default": None, "planner only": ("StaticPlanBlockMemory",), "all": "all"}


def _compile(module: Any, *instruments: Any) -> None:
    with tvm.transform.PassContext(instruments=list(instruments)):
        tvm.compile(module, "llvm")


def _row(module: Any, bounded: bool, mode: str, runs: int) -> list[str]:
    lints = []

    def watched() -> None:
        lints.append(relax_lint.MemoryLint(fail_on=None, passes=MODES[mode]))
        _compile(module, lints[-1])

    before, after = map(median, in_turns([lambda: _compile(module), watched], runs))
    shown = "with bounds" if bounded else "without bounds"
    cells = [f"{before:.2f} s", f"{after:.2f} s", f"{after / before:.2f}"]
    return [shown, mode, *cells, str(len(lints[-1].findings))]


def main() -> None:
    arguments = options(__doc__, layers=32, runs=5)
    rows = []
    for bounded in (False, True):
        module = exported(arguments.layers, bounded=bounded)
        _compile(module)
        rows += [_row(module, bounded, mode, arguments.runs) for mode in MODES]
    print(f"TVM {tvm.__version__}, {arguments.layers} layers, medians of {arguments.runs} runs\n")
    print(table(("module", "passes", "without", "with", "ratio", "findings"), rows))


if __name__ == "__main__":
    main()
