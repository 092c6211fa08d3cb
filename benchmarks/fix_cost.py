"""What inserted run-time checks cost: calls of a module with its checks against calls without.

    python benchmarks/fix_cost.py [--layers 2] [--calls 30] [--rounds 15]

Calls with and without alternate in one process, in rounds of `--calls` calls (a hundred times as many of the
small program). Times are CPU time of one thread, the ratio is that of the medians of the rounds.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

os.environ["TVM_NUM_THREADS"] = "1"

import numpy as np
import tvm
from tvm import relax

import relax_lint
from relax_lint.replay.modules import load_module
from tests.programs.transformer import lowered

OVERFLOW = Path(__file__).resolve().parent.parent / "examples" / "storage_overflow.py"


def small() -> Any:
    """One kernel on one storage of 16 bytes."""
    return load_module(OVERFLOW.read_text(encoding="utf-8"), "script")


def zeros(parameter: Any, length: int) -> Any:
    """An argument for a parameter; symbolic extents are `length`."""
    shape = [int(extent) if type(extent).__name__ == "IntImm" else length for extent in parameter.ty.shape]
    return tvm.runtime.tensor(np.zeros(shape, str(parameter.ty.dtype)))


def caller(module: Any, name: str, length: int) -> Callable[[], Any]:
    """A call of a function of the module, compiled for this machine."""
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    arguments = [zeros(parameter, length) for parameter in module[name].params]
    function = machine[name]
    return lambda: function(*arguments)


def seconds(call: Callable[[], Any], calls: int) -> float:
    """Seconds of one call, over `calls` of them."""
    start = time.thread_time()
    for _ in range(calls):
        call()
    return (time.thread_time() - start) / calls


def compare(title: str, module: Any, name: str, length: int, calls: int, rounds: int) -> None:
    fixed = relax_lint.insert_memory_checks(module)
    checks = fixed.script().count("R.assert_op(") - module.script().count("R.assert_op(")
    without, checked = caller(module, name, length), caller(fixed, name, length)
    times: tuple[list[float], list[float]] = ([], [])
    for call in (without, checked):
        seconds(call, calls)
    for number in range(rounds):
        gc.collect()
        # Whoever comes second finds other caches: they take turns.
        order = ((without, 0), (checked, 1)) if number % 2 else ((checked, 1), (without, 0))
        for call, kind in order:
            times[kind].append(seconds(call, calls))
    before, after = map(statistics.median, times)
    print(
        f"{title:<28}{length:>7}{checks:>8}{before * 1e6:>13.1f}{after * 1e6:>13.1f}"
        f"{(after - before) * 1e6:>8.1f}{after / before:>8.3f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    print(f"TVM {tvm.__version__}, medians of {arguments.rounds} rounds, microseconds for one call")
    print(f"{'module':<28}{'length':>7}{'checks':>8}{'without':>13}{'with':>13}{'more':>8}{'ratio':>8}")
    compare("examples/storage_overflow.py", small(), "main", 4, 100 * arguments.calls, arguments.rounds)
    planned = lowered(arguments.layers, bounded=True, stage="killed")
    title = f"transformer, {arguments.layers} layers"
    for length in (1, 16, 128):
        compare(title, planned, "forward", length, arguments.calls, arguments.rounds)


if __name__ == "__main__":
    main()
