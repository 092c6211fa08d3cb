"""The judging of texts for a language server: one at a time, in a worker process that is kept."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from relax_lint.results.report import FileResult
from relax_lint.running.pool import WorkerPool
from relax_lint.running.pools import new_pool
from relax_lint.running.runner import judge_with
from relax_lint.settings.config import Config
from relax_lint.sources.discovery import HeldInput


@dataclass(frozen=True)
class Text:
    """A text to judge. `path` is the one to show and to find ignores by, `kind` is python or markdown."""

    path: str
    kind: str
    data: bytes


class Analyser:
    """Keeps a worker process, in which TVM is loaded once. `judge` and `close` belong to one thread, which
    has to live as long as the worker: the system ends a worker with the thread that started it.
    """

    def __init__(self) -> None:
        self._pool: WorkerPool | None = None
        self._limits: tuple[float, int] | None = None
        self._lock = threading.Lock()

    def judge(self, text: Text, config: Config) -> FileResult:
        """Everything found in a text.

        Raises `relax_lint.running.pool.Interrupted` after a call of `interrupt`, and
        `relax_lint.support.errors.RunError` when TVM cannot be loaded.
        """
        limits = (config.time_limit, config.memory_limit)
        if self._pool is None or self._limits != limits:
            self.close()
            with self._lock:
                self._pool, self._limits = new_pool(config, 1), limits
        source = HeldInput(text.path, text.kind, None, True, text.data)
        try:
            return judge_with(self._pool, source, config)
        except BaseException:
            self.close()
            raise

    def interrupt(self) -> None:
        """Stop a judging that is under way. Any thread may call this at any time."""
        with self._lock:
            if self._pool is not None:
                self._pool.interrupt()

    def close(self) -> None:
        """End the worker process."""
        with self._lock:
            if self._pool is not None:
                self._pool.close()
                self._pool = None
