"""Recording which tests run which lines: the tests under coverage, in one process."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import coverage
import pytest

from tools.mutants.forks import work_in_forks
from tools.mutants.generating import PACKAGES, ROOT
from tools.mutants.tests_of import MARKS, Lines, Record, digest

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
IMPORT = "import"


class _Recorder:
    """Tells coverage which test runs, and how long each takes."""

    def __init__(self, cover: coverage.Coverage) -> None:
        self._cover = cover
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_collection_finish(self) -> None:
        work_in_forks(here=True)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._cover.switch_context(item.nodeid)
        began = time.process_time()
        result = yield
        self.seconds[item.nodeid] = time.process_time() - began
        self._cover.switch_context("between")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)


def record(tests: Sequence[str], basetemp: str) -> Record:
    """Run tests and see which lines each runs. Those that fail, or are skipped, are of no use to mutants."""
    cover = coverage.Coverage(
        data_file=None, include=[f"{ROOT}/{name}/*" for name in PACKAGES], config_file=False
    )
    cover.start()
    cover.switch_context(IMPORT)
    recorder = _Recorder(cover)
    pytest.main([*ARGUMENTS, f"--basetemp={basetemp}", "-m", MARKS, *tests], plugins=[recorder])
    cover.stop()
    return _record(cover.get_data(), recorder)


def _record(data: coverage.CoverageData, recorder: _Recorder) -> Record:
    names = sorted(set(recorder.seconds) - recorder.failed)
    found = Record(names, [recorder.seconds[name] for name in names])
    for name in {name.partition("::")[0] for name in recorder.seconds}:
        found.test_files[name] = digest(ROOT / name)
    bits = {name: 1 << place for place, name in enumerate(names)}
    for path in data.measured_files():
        lines: dict[int, int] = defaultdict(int)
        imported: set[int] = set()
        by_line: dict[int, list[Any]] = data.contexts_by_lineno(path)
        for line, contexts in by_line.items():
            imported |= {line} if IMPORT in contexts else set()
            lines[line] = sum(bits[name] for name in contexts if name in bits)
        name = os.path.relpath(path, ROOT)
        found.files[name] = Lines(digest(ROOT / name), dict(lines), sorted(imported))
    return found
