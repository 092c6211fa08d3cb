"""What `MemoryLint` costs: compile time of a transformer with the instrument against without.

python -m benchmarks.instrument [--layers 32] [--runs 5] [--mlc FOLDER --only llama,qwen2 --target cuda]

With `--mlc`, a checkout of mlc-ai/mlc-llm, the passes of mlc-llm run on its models instead, without the
generation of code. The first run of a process is not counted: TVM imports its tensor intrinsics in it.

Runs with and without alternate in one process; times are CPU time, the ratio is that of the medians, "first"
that of the first run with the instrument: the first of a process reads the kernels. "with bounds" declares
the bound of the symbolic length: that gives one finding, whose origin is searched for.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from statistics import median
from typing import Any

import tvm

import relax_lint
from benchmarks import mlc_models
from benchmarks.common import in_turns, options, table
from tests.programs.transformer import exported

HEAD = ("module", "passes", "without", "with", "ratio", "first", "findings")
MODES: dict[str, Any] = {"default": None, "planner only": ("StaticPlanBlockMemory",), "all": "all"}


def _compile(module: Any, *instruments: Any) -> None:
    with tvm.transform.PassContext(instruments=list(instruments)):
        tvm.compile(module, "llvm")


def _row(module: Any, bounded: bool, mode: str, runs: int) -> list[str]:
    lints = []

    def watched() -> None:
        lints.append(relax_lint.MemoryLint(fail_on=None, passes=MODES[mode]))
        _compile(module, lints[-1])

    without, with_it = in_turns([lambda: _compile(module), watched], runs)
    shown = "with bounds" if bounded else "without bounds"
    return [shown, mode, *_cells(without, with_it), str(len(lints[-1].findings))]


def _cells(without: Sequence[float], with_it: Sequence[float]) -> list[str]:
    before, after = median(without), median(with_it)
    return [f"{before:.2f} s", f"{after:.2f} s", f"{after / before:.2f}", f"{with_it[0] / before:.2f}"]


def _model_row(model_type: str, target: str, runs: int) -> list[str]:
    """The row of a model of mlc-llm, whose passes change the module: every run makes its own."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(2 * runs):
        lint = relax_lint.MemoryLint(fail_on=None)
        compilation = mlc_models.Compilation(model_type, mlc_models.target_of(target))
        gc.collect()
        begin = time.process_time()
        compilation.run(*([lint] if number % 2 else []))
        times[number % 2].append(time.process_time() - begin)
    return [model_type, "default", *_cells(*times), str(len(lint.findings))]


def _models(chosen: Any) -> list[list[str]]:
    mlc_models.load(chosen.mlc)
    names = chosen.only.split(",")
    mlc_models.Compilation(names[0], mlc_models.target_of(chosen.target)).run()
    return [_model_row(name, chosen.target, chosen.runs) for name in names]


def main() -> None:
    arguments = options(__doc__, layers=32, runs=5, mlc="", only="llama", target="cuda")
    if arguments.mlc:
        rows = _models(arguments)
        print(f"TVM {tvm.__version__}, mlc-llm for {arguments.target}, medians of {arguments.runs} runs\n")
        print(table(HEAD, rows))
        return
    rows = []
    for bounded in (False, True):
        module = exported(arguments.layers, bounded=bounded)
        _compile(module)
        rows += [_row(module, bounded, mode, arguments.runs) for mode in MODES]
    print(f"TVM {tvm.__version__}, {arguments.layers} layers, medians of {arguments.runs} runs\n")
    print(table(HEAD, rows))


if __name__ == "__main__":
    main()
