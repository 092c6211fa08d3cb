"""What `MemoryLint` costs: compile time of a transformer with the instrument against without.

    python benchmarks/instrument.py [--layers 32] [--runs 5]

Runs with and without alternate in one process; times are CPU time, the ratio is that of the medians. "with
bounds" declares the bound of the symbolic length: that gives one finding, whose origin is searched for.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tvm

import relax_lint
from tests.programs.transformer import exported

MODES: dict[str, Any] = {"default": None, "planner only": ("StaticPlanBlockMemory",), "all": "all"}


def compile_time(module: Any, *instruments: Any) -> float:
    """CPU seconds of one compilation."""
    gc.collect()
    start = time.process_time()
    with tvm.transform.PassContext(instruments=list(instruments)):
        tvm.compile(module, "llvm")
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    print(f"TVM {tvm.__version__}, {arguments.layers} layers, medians of {arguments.runs} runs")
    print(f"{'module':<14} {'passes':<14} {'without':>8} {'with':>8} {'ratio':>6} {'findings':>8}")
    for bounded in (False, True):
        module = exported(arguments.layers, bounded=bounded)
        compile_time(module)
        for name, passes in MODES.items():
            without, watched = [], []
            for _ in range(arguments.runs):
                lint = relax_lint.MemoryLint(fail_on=None, passes=passes)
                without.append(compile_time(module))
                watched.append(compile_time(module, lint))
            before, after = statistics.median(without), statistics.median(watched)
            shown = "with bounds" if bounded else "without bounds"
            print(
                f"{shown:<14} {name:<14} {before:>6.2f} s {after:>6.2f} s {after / before:>6.2f} "
                f"{len(lint.findings):>8}",
                flush=True,
            )


if __name__ == "__main__":
    main()
