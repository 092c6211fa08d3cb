"""What tests do in worker processes, done in forks of this one: others would not have the mutant."""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

TASK_S = 10
"""Processor time that a task may take: a page shows one that never ends."""


class Forks:
    """Stands in for `WorkerPool`: every task is done in a fork, without limits and sandbox."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.gaps: set[str] = set()
        self._queue: deque[tuple[int, str, tuple[Any, ...]]] = deque()
        self._submitted = 0

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, function: str, *arguments: Any, needs: object = None) -> int:
        """As that of the pool."""
        self._queue.append((self._submitted, function, arguments))
        self._submitted += 1
        return self._submitted - 1

    def events(self) -> Iterator[Any]:
        """As those of the pool."""
        from relax_lint.running.pool import Failed, FailureKind, Finished, Item, TaskFailure

        while self._queue:
            task, name, arguments = self._queue.popleft()
            lines, status = _forked(name, arguments)
            for line in lines:
                yield Item(task, json.loads(line))
            if status == 0:
                yield Finished(task)
            elif os.WIFSIGNALED(status):
                ended = f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
                kind = FailureKind.TIMEOUT if os.WTERMSIG(status) == signal.SIGXCPU else FailureKind.CRASH
                yield Failed(task, TaskFailure(kind, ended, signal=os.WTERMSIG(status)))
            else:
                yield Failed(task, TaskFailure(FailureKind.EXCEPTION, "an exception"))

    def abandon(self, task: int) -> None:
        """A task that was answered is done."""

    def close(self) -> None:
        """What was not begun is forgotten."""
        self._queue.clear()


def _lines(name: str, arguments: tuple[Any, ...]) -> Iterator[str]:
    """What a task answers, as lines of JSON."""
    module, _, function = name.partition(":")
    for value in getattr(importlib.import_module(module), function)(*arguments):
        yield json.dumps(value)


def _forked(name: str, arguments: tuple[Any, ...]) -> tuple[list[str], int]:
    """The answers of a task and the status with which its fork ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reader)
            resource.setrlimit(resource.RLIMIT_CPU, (TASK_S, TASK_S + 1))
            for line in _lines(name, arguments):
                os.write(writer, f"{line}\n".encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        lines = pipe.read().splitlines()
    return lines, os.waitpid(child, 0)[1]


def work_in_forks() -> None:
    """From now on `relax_lint.check` starts no other process."""
    from relax_lint.running import file_task, pools

    setattr(pools, "WorkerPool", Forks)  # noqa: B010 (mypy knows it as imported only)
    # It collects garbage for the sake of the next file of its process, which a fork does not have.
    setattr(file_task, "gc", _NoCollector())  # noqa: B010


class _NoCollector:
    """In the place of the module `gc`: whatever it is asked to do, it does nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None
