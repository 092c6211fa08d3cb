"""How long a run over a folder of TVMScript files takes: with 1 and 2 workers, cold and from the cache.

    python benchmarks/folder.py [FILES [RUNS]]

writes FILES (200) files of one module with two functions and a kernel each, all different, into a temporary
folder, and prints for each way to run the command over it the least time of the whole process and its ratio
to the run with one worker and without a cache. The processor time, children included, is what a loaded
machine tells most of.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

COMMAND = "import sys; from relax_lint.cli import main; sys.exit(main())"
MODULE = """\
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module{number}:
    @R.function(pure=False)
    def fits(x: R.Tensor(("n", {width}), "float32")):
        n = T.int64()
        area = R.vm.alloc_storage(R.shape([n * {bytes}]), R.prim_value(0), R.dtype("uint8"))
        alloc = R.vm.alloc_tensor(area, R.prim_value(0), R.shape([n, {width}]), R.dtype("float32"))
        Module{number}.scale(x, alloc)
        view = R.reshape(alloc, R.shape([n * {width}]))
        return view

    @R.function(pure=False)
    def overflows(x: R.Tensor(("m", {width}), "float32")):
        m = T.int64()
        area = R.vm.alloc_storage(R.shape([{capacity}]), R.prim_value(0), R.dtype("uint8"))
        alloc = R.vm.alloc_tensor(area, R.prim_value(0), R.shape([m, {width}]), R.dtype("float32"))
        Module{number}.scale(x, alloc)
        more = R.vm.alloc_tensor(area, R.prim_value({offset}), R.shape([m, {width}]), R.dtype("float32"))
        Module{number}.scale(alloc, more)
        return more

    @T.prim_func(private=True, s_tir=True)
    def scale(a: T.handle, b: T.handle):
        k = T.int64()
        x = T.match_buffer(a, (k, {width}), "float32")
        y = T.match_buffer(b, (k, {width}), "float32")
        for i, j in T.grid(k, {width}):
            with T.sblock("scale"):
                v, w = T.axis.remap("SS", [i, j])
                y[v, w] = x[v, w] * T.float32({number})
"""


@dataclass(frozen=True)
class Cost:
    """Seconds of one run: on the wall, and on the processors."""

    wall: float
    processor: float


def write_folder(folder: Path, files: int) -> None:
    for number in range(files):
        width = 4 + number % 61
        text = MODULE.format(
            number=number, width=width, bytes=4 * width, capacity=64 * (number + 1), offset=16 * (number % 7)
        )
        (folder / f"module_{number}.py").write_text(text)


def cost(arguments: list[str], folder: Path) -> Cost:
    before, begin = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "--quiet", *arguments, "."],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    after, end = os.times(), time.perf_counter()
    if done.returncode != 1:
        raise SystemExit(f"unexpected exit code {done.returncode}: {done.stderr.decode()}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(end - begin, spent)


def report(name: str, costs: list[Cost], base: Cost | None) -> Cost:
    best = Cost(min(one.wall for one in costs), min(one.processor for one in costs))
    base = base or best
    print(
        f"{name:34} {best.wall:8.2f} s ({best.wall / base.wall:5.3f}x)"
        f" {best.processor:8.2f} s of processor ({best.processor / base.processor:5.3f}x)"
    )
    return best


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as name:
        folder, caches = Path(name, "files"), Path(name, "caches")
        folder.mkdir()
        write_folder(folder, files)
        print(f"{files} files, least of {runs} runs")
        base = None
        for jobs in ("1", "2"):
            costs = [cost(["--jobs", jobs, "--no-cache"], folder) for _ in range(runs)]
            base = report(f"{jobs} worker(s), no cache", costs, base) if base is None else base
            if jobs != "1":
                report(f"{jobs} worker(s), no cache", costs, base)
        kept = [str(caches / str(run)) for run in range(runs)]
        report(
            "2 workers, empty cache",
            [cost(["--jobs", "2", "--cache-dir", one], folder) for one in kept],
            base,
        )
        report(
            "2 workers, all in the cache",
            [cost(["--jobs", "2", "--cache-dir", one], folder) for one in kept],
            base,
        )
        (folder / "module_0.py").write_text((folder / "module_0.py").read_text() + "# changed\n")
        report(
            "2 workers, one file changed",
            [cost(["--jobs", "2", "--cache-dir", one], folder) for one in kept],
            base,
        )


if __name__ == "__main__":
    main()
