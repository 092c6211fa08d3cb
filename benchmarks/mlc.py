"""mlc-llm's models through mlc-llm's own passes, with the linter watching. The sources are kept elsewhere.

python -m benchmarks.mlc FOLDER [--target cuda] [--only llama,qwen2] [--quantization q4f16_1]

FOLDER is a checkout of mlc-ai/mlc-llm. Its Python code is executed (`benchmarks.mlc_models`). The models are
small in layers, not in kind. The table says what `MemoryLint` finds at default settings, by severity, how
many bounds the model declares, and where the pipeline stops.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import relax_lint
from benchmarks.common import options, table
from benchmarks.mlc_models import Compilation, load, target_of
from benchmarks.mlc_sizes import MODELS


def _declares(function: Any) -> bool:
    return function.attrs is not None and "tir_var_upper_bound" in function.attrs


def judged(compilation: Compilation) -> tuple[Any, int, str]:
    """What the linter finds in one model, how many bounds it declares, and where the pipeline stopped."""
    lint = relax_lint.MemoryLint(fail_on=None)
    try:
        functions = compilation.run(lint).functions.values()
    except Exception as error:
        return lint, 0, " ".join(str(error).split())[:160] or type(error).__name__
    maps = [f.attrs["tir_var_upper_bound"] for f in functions if _declares(f)]
    return lint, len({str(name) for declared in maps for name in declared}), ""


def row(model_type: str, quantization: str, target: Any, cuda_graph: bool) -> tuple[list[str], Any]:
    """The line of the table about one model."""
    started = time.time()
    try:
        lint, bounds, stopped = judged(Compilation(model_type, target, quantization, cuda_graph))
    except Exception as error:
        words = " ".join(str(error).split())[:90]
        return [model_type, *["-"] * 6, f"not built: {type(error).__name__}: {words}"], None
    counts = Counter(found.check.severity.value for found in lint.findings)
    numbers = [str(counts[severity]) for severity in ("error", "warning", "note")]
    failures = str(len(lint.failures))
    return [
        model_type,
        *numbers,
        str(bounds),
        failures,
        f"{time.time() - started:.0f} s",
        stopped or "whole pipeline",
    ], lint


def show(model_type: str, lint: Any, severities: Sequence[str]) -> None:
    """Every finding of some severities."""
    for found in lint.findings if lint is not None else ():
        check = found.check
        if check.severity.value in severities:
            print(f"  {model_type}: {check.severity.value}[{check.rule}] {check.function}: {check.message}")
            print(f"    introduced by {found.introduced_by}; {'; '.join(check.notes)[:160]}")
    for failure in lint.failures if lint is not None else ():
        print(f"  {model_type}: {failure.message}")


def main() -> None:
    arguments = options(__doc__, "folder", target="cuda", only="", quantization="q4f16_1", graph=1, notes=0)
    (folder,) = arguments.folder
    load(folder)
    chosen = arguments.only.split(",") if arguments.only else list(MODELS)
    target = target_of(arguments.target)
    warnings.simplefilter("ignore")
    rows = []
    for model_type in chosen:
        line, lint = row(model_type, arguments.quantization, target, bool(arguments.graph))
        rows.append(line)
        print("  ".join(line), flush=True)
        show(model_type, lint, ("error", "warning", "note") if arguments.notes else ("error", "warning"))
    print()
    header = ("model", "errors", "warnings", "notes", "bounds", "failures", "time", "pipeline")
    print(table(header, rows))


if __name__ == "__main__":
    main()
