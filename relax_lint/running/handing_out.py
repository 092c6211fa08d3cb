"""Chunks of files as tasks of an executor, whatever machines that has."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import replace

from relax_lint import __version__
from relax_lint.judging.problems import problem_checks
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.running.executors import ExecutorError
from relax_lint.running.kept_pools import kept_pool
from relax_lint.running.messages import FileData
from relax_lint.running.outcome import outcome_text, read_outcome
from relax_lint.running.progress import Progress
from relax_lint.running.working import Tell, count, first_line, nobody, work
from relax_lint.settings.config import Config
from relax_lint.support.errors import RunError

CHUNK_FILES = 16
CHUNK_BYTES = 256 << 10
"""What one task takes at most, but for a single file that is larger."""

CHUNKS_AT_LEAST = 32
"""How many tasks a run is divided into where it has so many files: no worker shall be idle at its end."""

IN_FLIGHT = 256
IN_FLIGHT_BYTES = 64 << 20
"""How many tasks are with the executor at a time, and how many bytes of files but for a single task that is
larger: it holds them."""


def judge_files(files: Sequence[FileData], config: Config, debug: bool, version: str) -> list[str]:
    """All work on some inputs, as a task for an executor: in a worker process that is kept for the next task.

    The answers are the texts of Outcomes, in the order of `files`. Raises RunError where TVM cannot be loaded
    or another version of the tool than `version` is installed.
    """
    if version != __version__:
        raise RunError(f"the executor runs relax-lint {__version__}, not {version}")
    progress = [Progress(file.path, file) for file in files]
    with kept_pool(config) as pool:
        gaps = work(progress, config, debug, None, nobody, pool)
    return [outcome_text(replace(one.outcome, gaps=gaps)) for one in progress]


def hand_out(
    waiting: Sequence[Progress], config: Config, debug: bool, executor: Executor, tell: Tell
) -> None:
    """Let an executor judge the files. Raises RunError as `judge_files`, and ExecutorError where the executor
    is lost: what it has judged until then is noted.
    """
    settings = replace(config, jobs=1)
    queue = deque(_chunks(waiting))
    tasks: dict[Future[list[str]], list[Progress]] = {}
    done = size = 0

    def submit(chunk: list[Progress]) -> None:
        files = [one.file for one in chunk if one.file is not None]
        tasks[executor.submit(judge_files, files, settings, debug, __version__)] = chunk

    try:
        while True:
            while queue and (not tasks or _has_room(len(tasks), size + _size(queue[0]))):
                size += _size(queue[0])
                submit(queue.popleft())
            if not tasks:
                return
            tell(count(done, len(waiting)))
            lost: ExecutorError | None = None
            for task in wait(tasks, return_when=FIRST_COMPLETED).done:
                chunk = tasks.pop(task)
                size -= _size(chunk)
                try:
                    again = _take(task, chunk, config)
                except ExecutorError as error:
                    # Others may have been judged in the same moment.
                    lost = error
                    continue
                done += len(chunk) - len(again)
                queue.extendleft([one] for one in again)
            if lost is not None:
                raise lost
    finally:
        for task in tasks:
            task.cancel()


def _has_room(tasks: int, size: int) -> bool:
    return tasks < IN_FLIGHT and size <= IN_FLIGHT_BYTES


def _size(chunk: Iterable[Progress]) -> int:
    return sum(len(one.file.data) for one in chunk if one.file is not None)


def _chunks(waiting: Sequence[Progress]) -> Iterator[list[Progress]]:
    most = max(1, min(CHUNK_FILES, len(waiting) // CHUNKS_AT_LEAST))
    chunk: list[Progress] = []
    size = 0
    for one in waiting:
        added = _size([one])
        if chunk and (len(chunk) == most or size + added > CHUNK_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(one)
        size += added
    if chunk:
        yield chunk


def _take(task: Future[list[str]], chunk: list[Progress], config: Config) -> list[Progress]:
    """Note what became of a task; the files that are to be tried again, each alone. Raises RunError and
    ExecutorError.
    """
    try:
        texts = task.result()
        outcomes = [read_outcome(text) for text in texts]
        if len(outcomes) != len(chunk):
            raise ValueError(f"{len(outcomes)} results for {len(chunk)} inputs")
    except (RunError, ExecutorError):
        raise
    except Exception as error:
        # The task handles what an input can do: this is the executor's doing.
        if len(chunk) > 1:
            return chunk
        message = f"the executor did not analyse this input: {type(error).__name__}: {error}"
        problem = Problem(ProblemKind.ANALYSIS_FAILED, first_line(message), None)
        for one in chunk:
            one.checks += problem_checks([problem], one.path, config)
        return []
    for one, outcome in zip(chunk, outcomes, strict=True):
        one.known = outcome
    return []
