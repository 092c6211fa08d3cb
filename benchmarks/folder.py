"""How long a run over a folder of TVMScript files takes: with 1 and 2 workers, cold and from the cache.

python -m benchmarks.folder [--files 200] [--runs 3]

Writes files of one module with two functions and a kernel each, all different, into a temporary folder, and
prints for each way to run the command over it the least time of the whole process and its ratio to the run
with one worker and without a cache. The processor time, children included, is what a loaded machine tells
most of.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.bugs.bug import written_out
from benchmarks.common import COMMAND, options, table, write

MODULE = """\
planned fits(x: f32[n, {width}]):
    area = R.vm.alloc_storage(R.shape([n * {bytes}]), R.prim_value(0), R.dtype("uint8"))
    alloc = R.vm.alloc_tensor(area, R.prim_value(0), R.shape([n, {width}]), R.dtype("float32"))
    scale(x, alloc)
    view = R.reshape(alloc, R.shape([n * {width}]))
    return view

planned overflows(x: f32[m, {width}]):
    area = R.vm.alloc_storage(R.shape([{capacity}]), R.prim_value(0), R.dtype("uint8"))
    alloc = R.vm.alloc_tensor(area, R.prim_value(0), R.shape([m, {width}]), R.dtype("float32"))
    scale(x, alloc)
    more = R.vm.alloc_tensor(area, R.prim_value({offset}), R.shape([m, {width}]), R.dtype("float32"))
    scale(alloc, more)
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


def module(number: int) -> str:
    """The text of one file."""
    width = 4 + number % 61
    sizes = {"bytes": 4 * width, "capacity": 64 * (number + 1), "offset": 16 * (number % 7)}
    return written_out(MODULE.format(number=number, width=width, **sizes))


def cost(folder: Path, *arguments: str) -> tuple[float, float]:
    """Seconds of one run: on the wall, and on the processors."""
    before, begin = os.times(), time.perf_counter()
    done = subprocess.run(
        [*COMMAND, "--quiet", *arguments, "."], cwd=folder, capture_output=True, check=False
    )
    after, end = os.times(), time.perf_counter()
    if done.returncode != 1:
        raise SystemExit(f"unexpected exit code {done.returncode}: {done.stderr.decode()}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return end - begin, spent


def main() -> None:
    arguments = options(__doc__, files=200, runs=3)
    with tempfile.TemporaryDirectory() as name:
        folder, caches = Path(name, "files"), Path(name, "caches")
        folder.mkdir()
        write(folder, {f"module_{number}": module(number) for number in range(arguments.files)})
        own_cache = [("--jobs", "2", "--cache-dir", str(caches / str(run))) for run in range(arguments.runs)]
        rows: list[list[str]] = []
        base: list[float] = []

        def measure(title: str, ways: list[tuple[str, ...]]) -> None:
            best = [min(times) for times in zip(*(cost(folder, *way) for way in ways), strict=True)]
            base[:] = base or best
            cells = (f"{own:.2f} s ({own / of_base:.3f}x)" for own, of_base in zip(best, base, strict=True))
            rows.append([title, *cells])

        for jobs in ("1", "2"):
            measure(f"{jobs} worker(s), no cache", [("--jobs", jobs, "--no-cache")] * arguments.runs)
        measure("2 workers, empty cache", own_cache)
        measure("2 workers, all in the cache", own_cache)
        with (folder / "module_0.py").open("a") as file:
            file.write("# changed\n")
        measure("2 workers, one file changed", own_cache)
    print(f"{arguments.files} files, least of {arguments.runs} runs\n")
    print(table(("", "wall", "processors"), rows))


if __name__ == "__main__":
    main()
