"""Worker processes: they run what may crash, hang or eat memory, so that the tool itself does not.

A task is an importable function, named `"package.module:function"`, that returns an iterable of values
that JSON can hold. Each value arrives in the parent as one `Item`, so that what was done before a crash is
kept. Requests are pickled (the parent is trusted); answers are JSON and nothing else, because a worker reads
untrusted files and its answers must be safe to decode. POSIX only.
"""

from __future__ import annotations

import os
import pickle
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import IO, Any

from relax_lint.running.answers import (
    MAX_ANSWER_BYTES,
    MAX_TASK_BYTES,
    Confined,
    Raised,
    Value,
    understood,
)
from relax_lint.running.leftovers import remove_folder
from relax_lint.running.sandbox.gaps import AUTO, REQUIRE, SandboxError, required
from relax_lint.running.starting import ORDINARY, Needs, Worker, end_process, python_path, start_worker
from relax_lint.support.lazy_dataclass import dataclass

_READ_SIZE = 1 << 20
_LAST_WORDS_LINES = 20
_LAST_WORDS_BYTES = 16384
_LAST_WORDS_COLUMNS = 300


class FailureKind(str, Enum):
    """How a task ended that did not end well."""

    CRASH = "crash"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    EXCEPTION = "exception"


@dataclass(frozen=True)
class TaskFailure:
    """Why a task did not finish.

    `message` is one line for a person. `signal` or `exit_code` is how the process ended, if it did.
    `last_words` are the last lines that the process wrote to its standard output and error during this
    task, `traceback` the lines of a Python exception. `fresh_worker` is True when the task was the first
    of its process, so that no earlier task can have had a part in the failure.
    """

    kind: FailureKind
    message: str
    signal: int | None = None
    exit_code: int | None = None
    last_words: tuple[str, ...] = ()
    traceback: tuple[str, ...] = ()
    fresh_worker: bool = True


@dataclass(frozen=True)
class Item:
    """One value that a task gave, decoded from JSON."""

    task: int
    value: Any


@dataclass(frozen=True)
class Finished:
    """A task came to its end; all its items have been reported."""

    task: int


@dataclass(frozen=True)
class Failed:
    """A task did not come to its end; the items reported before stand."""

    task: int
    failure: TaskFailure


Event = Item | Finished | Failed


class Interrupted(Exception):
    """Another thread has asked the pool to stop: what it was doing is lost."""


class WorkerPool:
    """Runs tasks in up to `jobs` long-lived processes, one task at a time in each.

    `time_limit_s` is wall-clock time for each item of a task, in seconds; `memory_limit_bytes` limits the
    address space of each process (None: no limit). `sandbox` is `off`, `auto` or `require`; `packages` are
    packages that tasks import, beyond the tool's own and those that the tasks are in. A process whose task
    crashed or ran over a limit is replaced and the other tasks go on. Use as a context manager: on leaving it
    no process is left, however it is left.
    """

    def __init__(
        self,
        jobs: int,
        *,
        time_limit_s: float,
        memory_limit_bytes: int | None,
        sandbox: str = AUTO,
        packages: Sequence[str] = (),
    ) -> None:
        if jobs < 1:
            raise ValueError("jobs must be at least 1")
        self.gaps: set[str] = set()
        """What the sandboxes of the workers lacked so far, as codes of `sandbox.gaps`."""
        self._jobs = jobs
        self._time_limit = time_limit_s
        self._memory_limit = memory_limit_bytes
        self._sandbox = sandbox
        self._packages = set(packages)
        self._queue: deque[tuple[int, bytes, Needs]] = deque()
        self._submitted = 0
        self._workers: list[Worker] = []
        self._selector = selectors.DefaultSelector()
        self._alarm, self._alarm_button = os.pipe()
        self._selector.register(self._alarm, selectors.EVENT_READ)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, function: str, *arguments: Any, needs: Needs = ORDINARY) -> int:
        """Queue a call of `"package.module:function"` and return the number of the task, counted from 0.

        May be called while `events` is being iterated over.
        """
        task = self._submitted
        self._submitted += 1
        self._packages.add(function.partition(":")[0].partition(".")[0])
        self._queue.append((task, pickle.dumps((function, arguments)), needs))
        return task

    def events(self) -> Iterator[Event]:
        """What the tasks report, as it happens, until every submitted task has finished or failed.

        Raises Interrupted after a call of `interrupt`, and SandboxError where the sandbox is required and a
        worker could not have all of it: no task has begun there.
        """
        while self._queue or any(worker.task is not None for worker in self._workers):
            self._assign()
            yield from self._wait()

    def abandon(self, task: int) -> None:
        """End a task whose answers cannot be right, and its process with it. Of what it has said already
        events may still come. May be called while `events` is being iterated over.
        """
        for worker in [worker for worker in self._workers if worker.latest == task]:
            self._discard(worker)

    def interrupt(self) -> None:
        """End the iteration over `events`. The only method that another thread may call, before `close`."""
        os.write(self._alarm_button, b"!")

    def close(self) -> None:
        """Kill every process of the pool. Tasks that have not ended are lost."""
        if self._selector.get_map() is None:
            return
        for worker in list(self._workers):
            self._discard(worker)
        self._queue.clear()
        self._selector.close()
        os.close(self._alarm)
        os.close(self._alarm_button)

    def _assign(self) -> None:
        while self._queue:
            needs = self._queue[0][2]
            idle = [worker for worker in self._workers if worker.task is None]
            worker = next((worker for worker in idle if worker.needs == needs), None)
            if worker is None:
                if len(self._workers) >= self._jobs:
                    if not idle:
                        return
                    self._discard(idle[0])
                worker = self._start(needs)
            self._begin(worker)

    def _start(self, needs: Needs) -> Worker:
        settings = {
            "parent": os.getpid(),
            "time_limit_s": self._time_limit,
            "memory_limit": self._memory_limit or 0,
            "mode": self._sandbox,
            "folders": [] if needs.folder is None else [os.path.abspath(needs.folder)],
            "trusted_paths": python_path(),
            "packages": sorted(self._packages),
            "executable": needs.executable,
        }
        worker = start_worker(settings, needs)
        self._workers.append(worker)
        self._selector.register(worker.reader, selectors.EVENT_READ, worker)
        return worker

    def _begin(self, worker: Worker) -> None:
        worker.task, request, _ = self._queue.popleft()
        worker.latest, worker.received = worker.task, 0
        worker.tasks_begun += 1
        worker.outgoing = len(request).to_bytes(8, "little") + request
        worker.deadline = time.monotonic() + self._time_limit
        self._selector.register(worker.writer, selectors.EVENT_WRITE, worker)

    def _wait(self) -> list[Event]:
        busy = [worker for worker in self._workers if worker.task is not None]
        pause = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
        events: list[Event] = []
        for key, _ in self._selector.select(pause):
            worker = key.data
            if worker is None:
                raise Interrupted
            if worker not in self._workers:
                continue
            if key.fd == worker.reader:
                events += self._receive(worker)
            else:
                self._send(worker)
        now = time.monotonic()
        for worker in [worker for worker in self._workers if worker.task is not None]:
            if now >= worker.deadline:
                message = f"ran for more than {self._time_limit:g} seconds"
                events.append(self._fail(worker, FailureKind.TIMEOUT, message))
        return events

    def _send(self, worker: Worker) -> None:
        try:
            sent = os.write(worker.writer, worker.outgoing)
        except BlockingIOError:
            return
        except BrokenPipeError:
            # The process is gone: the end of its answers says so too, and is where that is handled.
            worker.outgoing = b""
        else:
            worker.outgoing = worker.outgoing[sent:]
        if not worker.outgoing:
            self._selector.unregister(worker.writer)

    def _receive(self, worker: Worker) -> list[Event]:
        chunk = os.read(worker.reader, _READ_SIZE)
        if not chunk:
            return self._ended(worker)
        if worker.task is None:
            # Nobody asked it anything: it is not what was started.
            self._discard(worker)
            return []
        worker.incoming += chunk
        worker.received += len(chunk)
        if len(worker.incoming) > MAX_ANSWER_BYTES:
            return [self._fail(worker, FailureKind.MEMORY, "gave an answer of more than 128 MiB")]
        if worker.received > MAX_TASK_BYTES:
            return [self._fail(worker, FailureKind.MEMORY, "gave answers of more than 256 MiB")]
        if b"\n" not in chunk:
            return []
        *lines, rest = worker.incoming.split(b"\n")
        worker.incoming = rest
        return self._events_of(worker, lines)

    def _events_of(self, worker: Worker, lines: Sequence[bytearray]) -> list[Event]:
        events: list[Event] = []
        for number, line in enumerate(lines, 1):
            event = self._understand(worker, bytes(line))
            if event is not None:
                events.append(event)
            if worker not in self._workers:
                break
            if worker.task is None:
                if number < len(lines) or worker.incoming:
                    # It goes on after the end.
                    self._discard(worker)
                break
        return events

    def _understand(self, worker: Worker, line: bytes) -> Event | None:
        task = worker.task
        assert task is not None
        try:
            answer = understood(line)
            if isinstance(answer, Confined) is worker.confined:
                raise ValueError("the first answer, and no other, is about the sandbox")
        except ValueError:
            return self._fail(worker, FailureKind.CRASH, "returned an invalid response")
        if isinstance(answer, Confined):
            self._note_gaps(worker, answer.gaps)
            return None
        if isinstance(answer, Value):
            worker.deadline = time.monotonic() + self._time_limit
            return Item(task, answer.value)
        if isinstance(answer, Raised) and answer.out_of_memory:
            return self._fail(worker, FailureKind.MEMORY, self._memory_message(), traceback=answer.traceback)
        worker.task = None
        if isinstance(answer, Raised):
            failure = TaskFailure(
                FailureKind.EXCEPTION,
                answer.message,
                last_words=_last_words(worker.log),
                traceback=answer.traceback,
                fresh_worker=worker.tasks_begun == 1,
            )
            return Failed(task, failure)
        return Finished(task)

    def _note_gaps(self, worker: Worker, gaps: tuple[str, ...]) -> None:
        if gaps and self._sandbox == REQUIRE:
            raise SandboxError(required(gaps))
        worker.confined = True
        self.gaps.update(gaps)

    def _ended(self, worker: Worker) -> list[Event]:
        if worker.task is None:
            self._discard(worker)
            return []
        # The pipe may be closed a moment before the process can be waited for.
        try:
            code = worker.process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return [self._fail(worker, FailureKind.CRASH, "closed its connection")]
        exit_code, signal_number = (code, None) if code >= 0 else (None, -code)
        kind, message = FailureKind.CRASH, f"ended with exit code {code}"
        if signal_number is not None:
            message = f"was ended by {_signal_name(signal_number)}"
        # Out of memory twice over: the process could not even say so.
        if any("bad_alloc" in line or "MemoryError" in line for line in _last_words(worker.log)):
            kind, message = FailureKind.MEMORY, self._memory_message()
        return [self._fail(worker, kind, message, exit_code=exit_code, signal_number=signal_number)]

    def _memory_message(self) -> str:
        if self._memory_limit is None:
            return "ran out of memory"
        return f"needed more than {self._memory_limit / 2**20:,.0f} MiB of memory"

    def _fail(
        self,
        worker: Worker,
        kind: FailureKind,
        message: str,
        *,
        signal_number: int | None = None,
        exit_code: int | None = None,
        traceback: tuple[str, ...] = (),
    ) -> Failed:
        assert worker.task is not None
        failure = TaskFailure(
            kind,
            message,
            signal_number,
            exit_code,
            _last_words(worker.log),
            traceback,
            worker.tasks_begun == 1,
        )
        task = worker.task
        self._discard(worker)
        return Failed(task, failure)

    def _discard(self, worker: Worker) -> None:
        self._workers.remove(worker)
        for descriptor in (worker.reader, worker.writer):
            if descriptor in self._selector.get_map():
                self._selector.unregister(descriptor)
        end_process(worker.process)
        worker.log.close()
        remove_folder(worker.temporary)


def _last_words(log: IO[bytes]) -> tuple[str, ...]:
    size = os.fstat(log.fileno()).st_size
    start = max(0, size - _LAST_WORDS_BYTES)
    text = os.pread(log.fileno(), _LAST_WORDS_BYTES, start).decode("utf-8", "replace")
    lines = [line.rstrip()[:_LAST_WORDS_COLUMNS] for line in text.splitlines() if line.strip()]
    return tuple(lines[-_LAST_WORDS_LINES:])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
