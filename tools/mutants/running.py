"""Running the tests against one mutant after the other, each in a fork of a process that has loaded TVM."""

from __future__ import annotations

import gc
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import pytest

from tools.mutants.applying import Functions, import_with
from tools.mutants.forks import work_in_forks
from tools.mutants.generating import ROOT, Key, Mutant
from tools.mutants.tests_of import MARKS

ARGUMENTS = (
    "--rootdir",
    str(ROOT),
    "-c",
    str(ROOT / "pyproject.toml"),
    "-s",
    "-q",
    "--tb=no",
    "--assert=plain",
    "-p",
    "no:cacheprovider",
    "-o",
    "addopts=",
)
SPARE_S = 5
"""Processor time that a test may take beyond `TIMES` of what it takes without a fault."""
TIMES = 8
WALL_S = 600
MEMORY_BYTES = 6 << 30

KILLED = "killed"
SURVIVED = "survived"
UNUSABLE = "not a program"
UNTESTED = "no test runs it"
ILL_TYPED = "ill-typed"
"""No test notices it, but the type checker does."""


@dataclass(frozen=True)
class Trial:
    """A mutant, and the tests for it with their usual times, in the order in which they are tried."""

    mutant: Mutant
    tests: Sequence[str]
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant, and the test that noticed it."""

    key: Key
    status: str
    test: str = ""


Told = Callable[[Outcome], None]


def run(
    trials: Sequence[Trial],
    imported: Sequence[Trial],
    basetemp: str,
    told: Told,
    end: float,
    jobs: int = 1,
) -> None:
    """Run the trials of mutants in functions, then those of mutants that count when a module is imported,
    `jobs` at a time, until the time is over. `told` is called in forks of this process too.
    """
    preload()
    again = list(imported)
    if trials:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _zygote(trials, basetemp, writer, end, jobs)
        os.close(writer)
        again += list(_outcomes(reader, trials, told))
        if os.waitpid(child, 0)[1] != 0:
            raise RuntimeError("the tests cannot be collected, so that nothing was tried")

    def lane(number: int) -> None:
        for trial in again[number::jobs]:
            if time.monotonic() > end:
                break
            told(_in_fork(trial, lambda trial: _whole_session(trial, f"{basetemp}-{number}")))

    in_lanes(jobs, lane)


def in_lanes(jobs: int, work: Callable[[int], None]) -> None:
    """Do the work of each number below `jobs`, each in a fork where there are several."""
    if jobs == 1:
        work(0)
        return
    children = []
    for number in range(jobs):
        child = os.fork()
        if child == 0:
            try:
                work(number)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def preload() -> None:
    """Import what takes long and is never mutated."""
    os.chdir(ROOT)
    for name in ("OMP", "OPENBLAS", "TVM", "MKL"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    import hypothesis
    import numpy
    import sympy
    import tvm.relax
    import tvm.s_tir
    import tvm.script

    del numpy, sympy, tvm
    # What fails need not be made smaller.
    hypothesis.settings.register_profile(
        "mutants",
        derandomize=True,
        database=None,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    )
    hypothesis.settings.load_profile("mutants")


def silence() -> None:
    """Let this process say nothing."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)


def _zygote(trials: Sequence[Trial], basetemp: str, writer: int, end: float, jobs: int) -> NoReturn:
    """Collect the tests once, and fork for every mutant."""
    silence()
    files = sorted({test.partition("::")[0] for trial in trials for test in trial.tests})
    loop = _Loop(trials, writer, end, jobs)
    pytest.main([*ARGUMENTS, f"--basetemp={basetemp}", "-m", MARKS, *files], plugins=[loop])
    os._exit(0 if loop.began else 1)


class _Loop:
    """Takes the place of pytest's loop over the tests."""

    def __init__(self, trials: Sequence[Trial], writer: int, end: float, jobs: int) -> None:
        self._trials = trials
        self._writer = writer
        self._end = end
        self._jobs = jobs
        self.began = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """One outcome a line: the number of the trial, the status, the test."""
        if session.testsfailed:
            return True
        self.began = True
        work_in_forks()
        functions = Functions({trial.mutant.key.file for trial in self._trials})
        items = {item.nodeid: item for item in session.items}
        _prepare(session.items)
        gc.collect()
        gc.freeze()

        def lane(first: int) -> None:
            for number in range(first, len(self._trials), self._jobs):
                if time.monotonic() > self._end:
                    break
                found = _in_fork(self._trials[number], lambda trial: _in_session(trial, functions, items))
                os.write(self._writer, f"{number}\t{found.status}\t{found.test}\n".encode())

        in_lanes(self._jobs, lane)
        return True


def _prepare(items: Sequence[pytest.Item]) -> None:
    """Let the modules of tests make what each fork would have to make again."""
    for module in {
        id(module): module for item in items if (module := getattr(item, "module", None))
    }.values():
        getattr(module, "before_forks", lambda: None)()


def _outcomes(reader: int, trials: Sequence[Trial], told: Told) -> Iterator[Trial]:
    """Tell what the process reports; give the trials that it could not do."""
    with os.fdopen(reader, encoding="utf-8") as lines:
        for line in lines:
            number, status, test = line.rstrip("\n").split("\t")
            if status == _ELSEWHERE:
                yield trials[int(number)]
            else:
                told(Outcome(trials[int(number)].mutant.key, status, test))


_ELSEWHERE = "elsewhere"
_SURVIVED, _KILLED, _NO_PROGRAM, _NOT_HERE = 0, 1, 2, 3
_STATUS = {_SURVIVED: SURVIVED, _KILLED: KILLED, _NO_PROGRAM: UNUSABLE, _NOT_HERE: _ELSEWHERE}


def _in_fork(trial: Trial, work: Callable[[Trial], tuple[int, str]]) -> Outcome:
    """Do the work in a fork, whose end by a signal is that of the mutant."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _child(trial, work, writer)
    os.close(writer)
    status = _waited(child)
    with os.fdopen(reader, "rb") as pipe:
        test = pipe.read().decode(errors="replace")
    if os.WIFSIGNALED(status):
        return Outcome(trial.mutant.key, KILLED, f"{test} (signal {os.WTERMSIG(status)})")
    return Outcome(trial.mutant.key, _STATUS.get(os.WEXITSTATUS(status), KILLED), test)


def _waited(child: int) -> int:
    """The status of a child, which is killed where it takes too long."""
    end = time.monotonic() + WALL_S
    pause = 0.002
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            break
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)
    # What its tests started and left.
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return status
    return status


def _child(trial: Trial, work: Callable[[Trial], tuple[int, str]], writer: int) -> NoReturn:
    """Never returns, and never lets an exception out."""
    code = _KILLED
    try:
        os.setsid()
        silence()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
        code, test = work(trial)
        os.write(writer, test.encode()[:4000])
    finally:
        os._exit(code)


def _limit(seconds: float) -> None:
    """Let this process end by itself where it takes much more than it should from now on."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + SPARE_S + TIMES * seconds) + 1, hard))


def _in_session(trial: Trial, functions: Functions, items: Mapping[str, pytest.Item]) -> tuple[int, str]:
    """Put the mutant into the functions that exist, and run its tests."""
    try:
        if not functions.put(trial.mutant):
            return _NOT_HERE, ""
    except (SyntaxError, ValueError):
        return _NO_PROGRAM, ""
    return _run_items(trial, [items[test] for test in trial.tests if test in items])


def _run_items(trial: Trial, items: Sequence[pytest.Item]) -> tuple[int, str]:
    """Run tests until one fails."""
    watcher = _Watcher()
    if items:
        items[0].config.pluginmanager.register(watcher)
    for place, item in enumerate(items):
        _limit(trial.seconds.get(item.nodeid, 1.0))
        following = items[place + 1] if place + 1 < len(items) else None
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        except BaseException:
            return _KILLED, item.nodeid
        if watcher.failed:
            return _KILLED, item.nodeid
    return _SURVIVED, ""


class _Watcher:
    """Sees whether a test failed."""

    def __init__(self) -> None:
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed


def _whole_session(trial: Trial, basetemp: str) -> tuple[int, str]:
    """Import everything with the mutant, collect its tests, and run them."""
    try:
        import_with(trial.mutant)
    except (SyntaxError, ValueError):
        return _NO_PROGRAM, ""
    _limit(20)
    files = sorted({test.partition("::")[0] for test in trial.tests})
    loop = _Once(trial)
    pytest.main([*ARGUMENTS, f"--basetemp={basetemp}", "-m", MARKS, *files], plugins=[loop])
    return loop.result


class _Once:
    """Runs the tests of one mutant in the order of the trial. What cannot be collected has noticed it."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self.result = (_KILLED, "collection")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """As `_Loop`, once."""
        if session.testsfailed:
            return True
        work_in_forks()
        items = {item.nodeid: item for item in session.items}
        if any(test not in items for test in self._trial.tests):
            return True
        self.result = _run_items(self._trial, [items[test] for test in self._trial.tests])
        return True
