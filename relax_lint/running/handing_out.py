"""Chunks of files as tasks of an executor, whatever machines that has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
"""How many tasks are with the executor at a time: it holds the bytes of their files."""


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
    """Let an executor judge the files. Raises RunError as `judge_files`."""
    settings = replace(config, jobs=1)
    chunks = _chunks(waiting)
    tasks: dict[Future[list[str]], list[Progress]] = {}
    done = 0

    def submit(chunk: list[Progress]) -> None:
        files = [one.file for one in chunk if one.file is not None]
        tasks[executor.submit(judge_files, files, settings, debug, __version__)] = chunk

    try:
        while True:
            while len(tasks) < IN_FLIGHT and (chunk := next(chunks, None)) is not None:
                submit(chunk)
            if not tasks:
                return
            tell(count(done, len(waiting)))
            for task in wait(tasks, return_when=FIRST_COMPLETED).done:
                chunk = tasks.pop(task)
                again = _take(task, chunk, config)
                done += len(chunk) - len(again)
                for one in again:
                    submit([one])
    finally:
        for task in tasks:
            task.cancel()


def _chunks(waiting: Sequence[Progress]) -> Iterator[list[Progress]]:
    most = max(1, min(CHUNK_FILES, len(waiting) // CHUNKS_AT_LEAST))
    chunk: list[Progress] = []
    size = 0
    for one in waiting:
        added = 0 if one.file is None else len(one.file.data)
        if chunk and (len(chunk) == most or size + added > CHUNK_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(one)
        size += added
    if chunk:
        yield chunk


def _take(task: Future[list[str]], chunk: list[Progress], config: Config) -> list[Progress]:
    """Note what became of a task; the files that are to be tried again, each alone."""
    try:
        texts = task.result()
        outcomes = [read_outcome(text) for text in texts]
        if len(outcomes) != len(chunk):
            raise ValueError(f"{len(outcomes)} results for {len(chunk)} inputs")
    except RunError:
        raise
    except Exception as error:
        # The task handles what an input can do: this is the executor's doing.
        if len(chunk) > 1 and not isinstance(error, ExecutorError):
            return chunk
        message = f"the executor did not analyse this input: {type(error).__name__}: {error}"
        problem = Problem(ProblemKind.ANALYSIS_FAILED, first_line(message), None)
        for one in chunk:
            one.checks += problem_checks([problem], one.path, config)
        return []
    for one, outcome in zip(chunk, outcomes, strict=True):
        one.known = outcome
    return []
