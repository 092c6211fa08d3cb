"""How long the whole command takes, in units of `python -c pass`.

    python -m benchmarks.startup [RUNS]

prints, for a file without Relax, 500 of them, and the program of apache/tvm#17322, the median and the least
time of the whole process and the ratios to an interpreter that does nothing, the latter also with the sandbox
of the workers turned off and on, and then the modules that a
file without Relax makes it import beyond that interpreter's own.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = "import sys; from relax_lint.cli import main; sys.exit(main())"
MODULES = """
import sys
before = set(sys.modules)
from relax_lint.cli import main
main()
print(*sorted(set(sys.modules) - before))
"""
ORDINARY = "import os\n\n\ndef name() -> str:\n    return os.name\n"
OVERFLOW = """\
from tvm.script import ir as I, relax as R, tir as T

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")):
        m = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([m]), R.dtype("float32"))
        return alloc
"""


def seconds(program: str, arguments: list[str], folder: str, runs: int) -> list[float]:
    """Wall-clock times of whole processes."""
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", program, *arguments], cwd=folder, capture_output=True, check=False
        )
        times.append(time.perf_counter() - begin)
    return times


def report(name: str, times: list[float], base: list[float]) -> None:
    median, least = statistics.median(times), min(times)
    ratios = f"{median / statistics.median(base):.2f}x median, {least / min(base):.2f}x least"
    print(f"{name:28} {1000 * median:8.1f} ms median {1000 * least:8.1f} ms least   {ratios}")


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    with tempfile.TemporaryDirectory() as folder:
        names = [f"ordinary_{number}.py" for number in range(500)]
        for name in names:
            Path(folder, name).write_text(ORDINARY)
        Path(folder, "overflow.py").write_text(OVERFLOW)
        seconds(COMMAND, ["overflow.py"], folder, 1)
        base = seconds("pass", [], folder, runs)
        report("python -c pass", base, base)
        report("a file without Relax", seconds(COMMAND, names[:1], folder, runs), base)
        report("500 files without Relax", seconds(COMMAND, names, folder, max(runs // 4, 1)), base)
        report("the program of #17322", seconds(COMMAND, ["overflow.py"], folder, max(runs // 10, 1)), base)
        for mode in ("off", "require"):
            times = seconds(
                COMMAND, ["--no-cache", "--sandbox", mode, "overflow.py"], folder, max(runs // 2, 1)
            )
            report(f"the same, --sandbox {mode}", times, base)
        modules = subprocess.run(
            [sys.executable, "-c", MODULES, names[0]], cwd=folder, capture_output=True, text=True, check=True
        )
        print(f"modules imported for a file without Relax: {modules.stdout.splitlines()[-1]}")


if __name__ == "__main__":
    main()
