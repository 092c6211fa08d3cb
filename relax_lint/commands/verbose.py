"""`--verbose`: what a run reads, and how long it takes, on standard error."""

from __future__ import annotations

import time

from relax_lint.commands.terminal import tell
from relax_lint.results.report import Report
from relax_lint.settings.config import Config


class Course:
    """The course of one run; it says nothing where that was not asked for."""

    def __init__(self, config: Config, *, wanted: bool) -> None:
        self._wanted = wanted
        self._start = time.monotonic()
        self._tell(f"configuration: {config.origin or 'none found, the defaults'}")

    def judged(self, report: Report) -> None:
        """Say what was read, and how long that took."""
        if not self._wanted:
            return
        seconds = time.monotonic() - self._start
        for file in report.files:
            status = file.input
            reason = f" ({status.reason})" if status.reason else ""
            functions = f", functions: {status.functions}" if status.functions else ""
            self._tell(f"{status.path}: {status.status}{reason}{functions}")
        self._tell(f"TVM: {report.tvm_version or 'not needed'}")
        self._tell(f"{len(report.files):,} inputs in {seconds:.2f} s")

    def _tell(self, words: str) -> None:
        if self._wanted:
            tell(f"relax-lint: {words}")
