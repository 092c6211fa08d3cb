"""The rows of `benchmarks.bench`: what the tool takes in units of something that is not ours."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tvm
from tvm import relax

import relax_lint
from benchmarks.common import COMMAND, ROOT
from benchmarks.effort import effort, process_effort
from benchmarks.llama import TINY
from benchmarks.llama import exported as exported_llama
from benchmarks.startup import ORDINARY, OVERFLOW
from relax_lint.judging.module import ModuleJudge
from relax_lint.judging.report import check_parsed
from relax_lint.rule import unreadable_codes
from relax_lint.settings.config import Config
from relax_lint.sources.dialects import PRINTED, rewritten
from relax_lint.sources.opaque.reading import read_unit
from relax_lint.sources.parsing import imports_of
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit
from tests.programs.transformer import binding_count, exported, lowered

PASS = (sys.executable, "-c", "pass")
PARSE = (
    *(sys.executable, "-c"),
    "import sys, tvm; tvm.script.from_source(open(sys.argv[1]).read())",
)
KERNEL_LAYERS = 32
INSIDE = ("RLX306", "RLX307", "RLX308", "RLX311", "RLX312", "RLX313", "RLX314")
"""The rules about what happens in a kernel."""
ORDINARY_FILES = 5_000
DASK_FILES = (8, 64)
DASK_RUNS = 3
SETTLED_S = 2.5


@dataclass(frozen=True)
class Row:
    """One line of the table: a ratio and what it should be at most. `guarded` is False for what is not
    counted in instructions: it is shown and compared with nothing.
    """

    name: str
    value: float
    aim: float | None = None
    unit: str = "x"
    guarded: bool = True


def command() -> Iterator[Row]:
    """The whole command on a printed dump, over a process that imports TVM and parses the same text."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "overflow.py").write_text(OVERFLOW, encoding="utf-8")
        for layers, aim in ((8, 1.10), (32, 0.95)):
            text = lowered(layers, bounded=True, stage="killed").script()
            Path(folder, "dump.py").write_text(text, encoding="utf-8")
            yield Row(
                f"command, {layers} layers, over import and from_source", _over_parse(folder, "dump.py"), aim
            )
        yield Row("command, the program of #17322, over the same", _over_parse(folder, "overflow.py"), 1.3)


def _over_parse(folder: str, name: str) -> float:
    own = process_effort((*COMMAND, "--no-cache", name), folder)
    return own / process_effort((*PARSE, name), folder)


def judging() -> Iterator[Row]:
    """Reading and judging as a worker does, with the collector and real positions, over TVM's parse."""
    for layers in (2, 8, 32, 128):
        module = lowered(layers, bounded=True, stage="killed")
        text = module.script()
        parse = effort(lambda text=text: tvm.script.from_source(text))  # type: ignore[misc]
        (unit,) = read_units(text.encode(), "dump.py").units
        if layers in (8, 32):
            rewrite = effort(lambda unit=unit: rewritten(unit.node, imports_of(unit), PRINTED))  # type: ignore[misc]
            yield Row(f"rewriting the dialect, {layers} layers, over TVM's parse", rewrite / parse, 0.1)
            read = effort(lambda unit=unit: read_unit(unit))  # type: ignore[misc]
            yield Row(f"reading with all of it, {layers} layers, over from_source", read / parse, 1.1)
        parsed = read_unit(unit)
        assert isinstance(parsed, ParsedUnit)
        judge = effort(lambda parsed=parsed: check_parsed(parsed, "dump.py", Config()), 2)  # type: ignore[misc]
        yield Row(f"judging, {layers} layers, over TVM's parse", judge / parse, 0.05)
        if layers == KERNEL_LAYERS:
            yield _kernels(module, parse, layers)
        begin = time.process_time()
        check_parsed(parsed, "dump.py", Config())
        taken = 1e6 * (time.process_time() - begin) / binding_count(module)
        yield Row(f"judging, {layers} layers, each binding", taken, 70, " us", guarded=False)


def _kernels(module: Any, parse: int, layers: int) -> Row:
    """Every access of every kernel, races and internal buffers, over TVM's parse."""

    def judged(*select: str) -> int:
        config = Config(select=(*select, *unreadable_codes()))
        return effort(lambda: list(ModuleJudge(module, config).functions()), 2)

    return Row(f"kernels, {layers} layers, over TVM's parse", (judged(*INSIDE) - judged()) / parse, 0.03)


def instrument() -> Iterator[Row]:
    """Compiling with `MemoryLint` over compiling without. It reads a kernel once in a process."""
    modules: Mapping[str, tuple[Any, float]] = {
        "8 layers": (exported(8, bounded=False), 1.05),
        "tiny llama": (exported_llama(TINY)[0], 1.1),
    }
    for name, (module, aim) in modules.items():

        def compiled(*instruments: Any, module: Any = module) -> None:
            with tvm.transform.PassContext(instruments=list(instruments)):
                tvm.compile(module, "llvm")

        def watched(compiled: Callable[..., None] = compiled) -> None:
            compiled(relax_lint.MemoryLint(fail_on=None))

        compiled()
        plain, first = effort(compiled, 2), effort(watched)
        yield Row(f"instrument, {name}, first compilation that is watched, over compiling", first / plain)
        yield Row(f"instrument, {name}, over compiling", effort(watched, 2) / plain, aim)


def memory() -> Iterator[Row]:
    """The memory totals of a static module over TVM's estimator."""
    module = exported(8, bounded=False)
    module = relax.transform.BindSymbolicVars({"n": 64}, "forward")(module)
    with tvm.target.Target("llvm"):
        module = relax.get_pipeline("zero")(module)
        planned = tvm.transform.Sequential(_PLANNING)(module)
    relax_lint.memory(planned)
    estimated = effort(lambda: relax.analysis.estimate_memory_usage(planned), 3)
    yield Row("memory, over TVM's estimator", effort(lambda: relax_lint.memory(planned), 3) / estimated, 4)


_PLANNING = (
    relax.transform.RewriteDataflowReshape(),
    relax.transform.ToNonDataflow(),
    relax.transform.CallTIRRewrite(),
    relax.transform.StaticPlanBlockMemory(),
)


def folders() -> Iterator[Row]:
    """Ordinary files, and a file that the cache knows, over an interpreter that does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        names = [f"ordinary_{number}.py" for number in range(ORDINARY_FILES)]
        Path(folder, "many").mkdir()
        for name in names:
            Path(folder, "many", name).write_text(ORDINARY, encoding="utf-8")
        Path(folder, "overflow.py").write_text(OVERFLOW, encoding="utf-8")
        base = process_effort(PASS, folder, 5)
        many = process_effort((*COMMAND, "--no-cache", "."), f"{folder}/many")
        yield Row(f"folder of {ORDINARY_FILES:,} ordinary files, over `python -c pass`", many / base, 6)
        named = process_effort((*COMMAND, "--no-cache", *names), f"{folder}/many")
        yield Row("the same files named, over `python -c pass`", named / base, 6)
        cached = (*COMMAND, "--cache-dir", f"{folder}/cache", "overflow.py")
        process_effort(cached, folder, 1)
        # What is printed is kept once nothing of the installation, and the folder is a part of its import
        # path, has changed for two seconds.
        time.sleep(SETTLED_S)
        process_effort(cached, folder, 1)
        yield Row(
            "everything cached, one file, over `python -c pass`", process_effort(cached, folder) / base, 3
        )


def dask() -> Iterator[Row]:
    """Files over two local Dask workers, over two workers of the command; wall-clock time."""
    with _cluster() as address, tempfile.TemporaryDirectory() as folder:
        for files in DASK_FILES:
            for number in range(files):
                text = OVERFLOW.replace("[16]", f"[{16 * number + 16}]")
                Path(folder, f"{number}.py").write_text(text, encoding="utf-8")
            command = (*COMMAND, "--no-cache", "--jobs", "2", ".")
            # The first run over Dask begins the workers, as each run of the command does.
            first = _seconds((*command, "--executor", f"dask://{address}"), folder)
            local = min(_seconds(command, folder) for _ in range(DASK_RUNS))
            kept = min(
                _seconds((*command, "--executor", f"dask://{address}"), folder) for _ in range(DASK_RUNS)
            )
            if files == DASK_FILES[0]:
                yield Row(
                    f"Dask, {files} files, first run, over two workers", first / local, 1.2, guarded=False
                )
            yield Row(f"Dask, {files} files, over two workers", kept / local, 1.2, guarded=False)


@contextmanager
def _cluster() -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        yield str(cluster.scheduler_address).removeprefix("tcp://")


def _seconds(command: tuple[str, ...], folder: str) -> float:
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 1:
        raise SystemExit(f"{done.returncode}: {done.stderr[-500:]}")
    return time.perf_counter() - begin


def suite() -> Iterator[Row]:
    """The tests that `make test` runs, in seconds."""
    line = re.search(r"^TESTS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert line is not None
    begin = time.perf_counter()
    words = re.findall(r'"[^"]*"|\S+', line[1])
    arguments = [word.strip('"') for word in words]
    done = subprocess.run(
        (sys.executable, "-m", "pytest", "-q", *arguments),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        # Tests that were not run, or that ended early, take less.
        raise SystemExit(f"{done.returncode}: {done.stdout[-500:]}")
    yield Row("the tests of `make test`", time.perf_counter() - begin, 180, " s", guarded=False)


PARTS: Mapping[str, Callable[[], Iterator[Row]]] = {
    "command": command,
    "judging": judging,
    "instrument": instrument,
    "memory": memory,
    "folders": folders,
    "dask": dask,
    "suite": suite,
}
"""By the name that selects them."""
