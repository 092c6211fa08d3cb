"""The judging of texts for a language server: one at a time, in a worker process that is kept."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from relax_lint.results.check import Edit
from relax_lint.results.report import FileResult
from relax_lint.running.pool import Item, WorkerPool
from relax_lint.running.pools import new_pool
from relax_lint.running.runner import judge_with
from relax_lint.settings.config import Config
from relax_lint.sources.inputs import HeldInput
from relax_lint.sources.text import decode as decode_text
from relax_lint.support.codec import decode
from relax_lint.support.lazy_dataclass import dataclass
from relax_lint.suppressions.adding import FUNCTION, Plan, Wanted


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
        pool = self._ready(config)
        source = HeldInput(text.path, text.kind, None, True, text.data)
        try:
            return judge_with(pool, source, config)
        except BaseException:
            self.close()
            raise

    def comments(self, text: Text, wanted: Sequence[Wanted], config: Config) -> list[tuple[Edit, ...]]:
        """The edits that accept each finding by a comment of its own; none where no comment can stand. Raises
        what `judge` raises.
        """
        pool = self._ready(config)
        found: list[tuple[Edit, ...]] = [()] * len(wanted)
        try:
            content = decode_text(text.data)
            tasks = {
                pool.submit(FUNCTION, content, text.path, text.kind, (one,), ""): number
                for number, one in enumerate(wanted)
            }
            for event in pool.events():
                if isinstance(event, Item):
                    found[tasks[event.task]] = decode(Plan, event.value).edits
        except BaseException:
            self.close()
            raise
        return found

    def _ready(self, config: Config) -> WorkerPool:
        """The worker, started anew where its limits have changed."""
        limits = (config.time_limit, config.memory_limit)
        if self._pool is None or self._limits != limits:
            self.close()
            with self._lock:
                self._pool, self._limits = new_pool(config, 1), limits
        return self._pool

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
