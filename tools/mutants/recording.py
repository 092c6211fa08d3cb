"""Recording which tests run which lines: the engine has marks, and each file of tests runs in a fork."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

import pytest

from tools.mutants.forks import work_in_forks
from tools.mutants.generating import PACKAGES, ROOT, python_files
from tools.mutants.marking import Marks
from tools.mutants.running import ARGUMENTS, silence
from tools.mutants.tests_of import MARKS, RECORDED_S, Lines, Record, digest


class _TooLong(BaseException):
    """A test took longer than any test for a mutant may."""


class _Recorder:
    """Sees what each test runs, and how long it takes."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self.ran: dict[str, list[int]] = {}
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.useless: set[str] = set()

    def pytest_collection_finish(self) -> None:
        work_in_forks()
        signal.signal(signal.SIGPROF, _stop)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        list(self._marks.taken())
        began = _processor_time()
        signal.setitimer(signal.ITIMER_PROF, RECORDED_S)
        try:
            result = yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        self.seconds[item.nodeid] = _processor_time() - began
        self.ran[item.nodeid] = list(self._marks.taken())
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.useless.add(report.nodeid)
        if report.failed:
            self.failed.add(report.nodeid)


def _stop(signum: int, frame: FrameType | None) -> NoReturn:
    raise _TooLong


def _processor_time() -> float:
    """That of the processes that were waited for included."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def record(names: Sequence[str], folder: str, found: Callable[[str, Record | None], None], jobs: int) -> None:
    """Run files of tests, `jobs` at a time, and tell of each which lines it runs, or None where its process
    did not come to its end. This process imports the engine with marks.
    """
    marks = Marks(python_files(PACKAGES))
    marks.load()
    imported = frozenset(marks.taken())
    running: dict[int, str] = {}
    waiting = list(names)
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.pop(0)
            running[_forked(marks, imported, name, folder)] = name
        child, status = os.wait()
        name = running.pop(child)
        found(name, Record.read(_kept(folder, name)) if status == 0 else None)


def _kept(folder: str, name: str) -> Path:
    return Path(folder, f"{name.replace('/', '.')}.json")


def _forked(marks: Marks, imported: frozenset[int], name: str, folder: str) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        silence()
        marks.own()
        recorder = _Recorder(marks)
        basetemp = f"--basetemp={_kept(folder, name).with_suffix('.tests')}"
        pytest.main([*ARGUMENTS, basetemp, "-m", MARKS, str(ROOT / name)], plugins=[recorder])
        _record(marks, imported, recorder, name).write(_kept(folder, name))
        os._exit(0)
    finally:
        os._exit(1)


def _record(marks: Marks, imported: Iterable[int], recorder: _Recorder, name: str) -> Record:
    """Tests that fail or are skipped are of no use to mutants."""
    names = sorted(test for test in recorder.ran if test not in recorder.useless)
    found = Record(names, [recorder.seconds[test] for test in names])
    found.test_files[name] = digest(ROOT / name)
    found.failed = sorted(recorder.failed)
    by_place: dict[int, int] = defaultdict(int)
    for number, test in enumerate(names):
        for place in recorder.ran[test]:
            by_place[place] |= 1 << number
    while_imported = set(imported)
    places: dict[str, dict[int, int]] = defaultdict(dict)
    for place, (file, first, last) in enumerate(marks.places):
        places[file].update(dict.fromkeys(range(first, last + 1), place))
    for file, lines in places.items():
        found.files[file] = Lines(
            digest(ROOT / file),
            {line: by_place[place] for line, place in lines.items() if by_place[place]},
            sorted(line for line, place in lines.items() if place in while_imported),
        )
    return found
