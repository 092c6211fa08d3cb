"""TVM's pipelines for devices that are not there: what is lowered for them, and what the linter says of it.

python -m benchmarks.targets [--only cuda,vulkan] [--seconds 120]

Each of our models goes through the default pipeline of each target, with `MemoryLint` watching, in a process
of its own with a time limit: the pipeline of a target may not end without the device. For cuda it is
also run with the rewriting to CUDA graphs. The table says what TVM refuses. Nothing is run on a device.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import tvm
from tvm import relax

import relax_lint
from benchmarks.common import options, table
from tests.programs import device_models

TARGETS: dict[str, Any] = {
    "cuda": {"kind": "cuda", "arch": "sm_80", "host": "llvm"},
    "cuda graph": {"kind": "cuda", "arch": "sm_80", "host": "llvm"},
    "vulkan": {"kind": "vulkan", "host": "llvm"},
    "metal": {"kind": "metal", "host": "llvm"},
    "opencl": {"kind": "opencl", "host": "llvm"},
    "hexagon": {"kind": "hexagon", "host": "llvm"},
}


def judged(name: str, module: Any) -> tuple[Counter[str], list[str]]:
    """The severities of what is found on the way through the pipeline of a target, and the findings."""
    target = tvm.target.Target(TARGETS[name])
    lint = relax_lint.MemoryLint(fail_on=None)
    settings = {"relax.backend.use_cuda_graph": name == "cuda graph"}
    with target, tvm.transform.PassContext(config=settings, instruments=[lint]):
        relax.get_default_pipeline(target)(module)
    counts = Counter(found.check.severity.value for found in lint.findings)
    counts["failures"] = len(lint.failures)
    loud = [found.check for found in lint.findings if found.check.severity.value != "note"]
    return counts, [f"{check.rule} {check.function}: {check.message}" for check in loud]


def _work(name: str, make: Callable[[], Any], answers: Any) -> None:
    try:
        answers.put(judged(name, make()))
    except Exception as error:
        answers.put(" ".join(str(error).split())[:100] or type(error).__name__)


def in_time(name: str, make: Callable[[], Any], seconds: int) -> Any:
    """The answer of a process of its own, or why there is none."""
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    process = context.Process(target=_work, args=(name, make, answers))
    process.start()
    try:
        return answers.get(timeout=seconds)
    except Exception:
        return f"no end after {seconds} s"
    finally:
        process.kill()
        process.join()


def main() -> None:
    arguments = options(__doc__, only="", seconds=120)
    names = arguments.only.split(",") if arguments.only else list(TARGETS)
    rows = []
    for name in names:
        for model, make in device_models.MODELS.items():
            started = time.time()
            answer = in_time(name, make, arguments.seconds)
            if isinstance(answer, str):
                cells, loud = ["-"] * 4 + [answer], []
            else:
                counts, loud = answer
                numbers = [str(counts[key]) for key in ("error", "warning", "note", "failures")]
                cells = [*numbers, "lowered"]
            rows.append([name, model, *cells, f"{time.time() - started:.0f} s"])
            print("  ".join(rows[-1]), *loud, sep="\n    ", flush=True)
    print()
    print(table(("target", "model", "errors", "warnings", "notes", "failures", "outcome", "time"), rows))


if __name__ == "__main__":
    main()
