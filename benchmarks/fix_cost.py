"""What inserted run-time checks cost: calls of a module with its checks against calls without.

python -m benchmarks.fix_cost [--layers 2] [--calls 30] [--rounds 15]

Calls with and without alternate in one process, in rounds of `--calls` calls (a hundred times as many of the
small program). Times are CPU time of one thread, the ratio is that of the medians of the rounds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

os.environ["TVM_NUM_THREADS"] = "1"

import numpy as np
import tvm
from tvm import relax

import relax_lint
from benchmarks.common import ROOT, in_turns, options, table
from relax_lint.replay.modules import load_module
from tests.programs.transformer import lowered

HEAD = ("module", "length", "checks", "us without", "us with", "more", "ratio")


def _argument(parameter: Any, length: int) -> Any:
    """Zeros for a parameter; symbolic extents are `length`."""
    shape = [int(extent) if type(extent).__name__ == "IntImm" else length for extent in parameter.ty.shape]
    return tvm.runtime.tensor(np.zeros(shape, str(parameter.ty.dtype)))


def _caller(module: Any, name: str, length: int, calls: int) -> Callable[[], None]:
    """Calls of a function of the module, compiled for this machine."""
    function = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())[name]
    arguments = [_argument(parameter, length) for parameter in module[name].params]

    def call() -> None:
        for _ in range(calls):
            function(*arguments)

    return call


def compare(title: str, module: Any, name: str, length: int, calls: int, rounds: int) -> list[str]:
    """A row of the table."""
    fixed = relax_lint.insert_memory_checks(module)
    # Both forms of a check say so.
    checks = fixed.script().count(" is needed") - module.script().count(" is needed")
    both = [_caller(version, name, length, calls) for version in (module, fixed)]
    for call in both:
        call()
    before, after = (1e6 * median(times) / calls for times in in_turns(both, rounds, time.thread_time))
    cells = [f"{before:.1f}", f"{after:.1f}", f"{after - before:.1f}", f"{after / before:.3f}"]
    return [title, str(length), str(checks), *cells]


def main() -> None:
    arguments = options(__doc__, layers=2, calls=30, rounds=15)
    example = "examples/storage_overflow.py"
    small = load_module((ROOT / example).read_text(encoding="utf-8"), "script")
    rows = [compare(example, small, "main", 4, 100 * arguments.calls, arguments.rounds)]
    planned = lowered(arguments.layers, bounded=True, stage="killed")
    for length in (1, 16, 128):
        title = f"transformer, {arguments.layers} layers"
        rows.append(compare(title, planned, "forward", length, arguments.calls, arguments.rounds))
    print(f"TVM {tvm.__version__}, medians of {arguments.rounds} rounds, microseconds for one call\n")
    print(table(HEAD, rows))


if __name__ == "__main__":
    main()
