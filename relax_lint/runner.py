"""One run over paths: find the inputs, let worker processes judge them, collect the report.

Imports neither TVM nor sympy: all that reads or judges untrusted input happens in the workers.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from relax_lint.config import UNREADABLE_BLOCKS, Config
from relax_lint.diagnostic import Check, FileResult, InputStatus, MemoryTotals, Report
from relax_lint.file_task import FUNCTION, Answer, FileData, Found, Loaded, read_answer
from relax_lint.memory_figures import Estimate
from relax_lint.policy import apply_policy, idle_assumptions, with_notes_on_accepted_blocks
from relax_lint.problems import problem_checks
from relax_lint.rule import load_rules
from relax_lint.sources.discovery import Input, UnreadableError, discover
from relax_lint.sources.prefilter import may_contain_relax
from relax_lint.sources.unit import Problem
from relax_lint.workers import Failed, FailureKind, Item, TaskFailure, WorkerPool

_LAST_WORDS_SHOWN = 6
_RETRIES = 1


class RunError(Exception):
    """The run as a whole is impossible: TVM cannot be loaded, say."""


@dataclass
class _Progress:
    """What is known so far of one input. `unit` is the number of the next unit that is to be judged,
    `first` the one that the present attempt began with, `retries` how often this unit was begun again.
    """

    path: str
    file: FileData | None = None
    found: Found | None = None
    loaded: bool = False
    first: int = 0
    unit: int = 0
    retries: int = 0
    functions: int = 0
    checks: list[Check] = field(default_factory=list)
    memory: list[MemoryTotals] = field(default_factory=list)
    estimates: list[tuple[Estimate, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    assumptions: set[str] = field(default_factory=set)
    lines: dict[int, str] = field(default_factory=dict)

    def take(self, answer: Answer, config: Config) -> None:
        """Add what a worker answered."""
        if isinstance(answer, Loaded):
            self.loaded = True
            return
        self.lines.update(answer.lines)
        if isinstance(answer, Found):
            if self.found is None:
                self.checks += problem_checks(answer.problems, self.path, config)
            self.found = answer
            return
        self.checks += answer.checks
        self.memory += answer.memory
        if answer.estimates:
            self.estimates.append(answer.estimates)
        self.notes += answer.notes
        self.assumptions.update(answer.assumptions)
        self.functions += answer.functions
        self.unit += 1
        self.retries = 0


def run(
    paths: Sequence[str], config: Config, *, stdin_filename: str | None = None, debug: bool = False
) -> Report:
    """Judge every unit in the inputs at or below `paths` (`-` is standard input).

    With `debug` a finding about a failed analysis shows the Python traceback. Raises RunError when TVM cannot
    be loaded.
    """
    progress: list[_Progress] = []
    for found in discover(paths, exclude=config.exclude, stdin_filename=stdin_filename):
        if isinstance(found, Problem):
            path = found.location.path if found.location is not None else ""
            progress.append(_Progress(path, checks=list(problem_checks([found], path, config))))
        else:
            progress.append(_admit(found, config))
    waiting = [one for one in progress if one.file is not None]
    tvm_version = _work(waiting, config, debug) if waiting else None
    files = tuple(_policed(one, config) for one in progress)
    used = {text for one in progress for text in one.assumptions}
    idle = idle_assumptions(used, config) if any(one.functions for one in progress) else ()
    return Report(files, tvm_version, idle)


def _policed(one: _Progress, config: Config) -> FileResult:
    comments = one.found.comments if one.found is not None else ()
    return with_notes_on_accepted_blocks(apply_policy(_result(one), comments, config))


def _admit(found: Input, config: Config) -> _Progress:
    """Read an input; without a file to work on where it cannot be read or holds no Relax for certain."""
    try:
        data = found.read()
        if found.kind != "json" and len(data) > config.max_file_size:
            raise UnreadableError(f"larger than {config.max_file_size:,} bytes")
    except UnreadableError as error:
        problem = Problem("RLX901", f"cannot be read: {error}", None)
        return _Progress(found.path, checks=list(problem_checks([problem], found.path, config)))
    progress = _Progress(found.path)
    if _may_matter(found, data):
        progress.file = FileData(data, found.path, found.kind, found.named)
    return progress


def _may_matter(found: Input, data: bytes) -> bool:
    if found.kind != "json":
        return may_contain_relax(data)
    return found.named or (b'"nodes"' in data and b'"root' in data)


def _work(waiting: list[_Progress], config: Config, debug: bool) -> str | None:
    """Let the workers judge the files; the version of TVM, if it was loaded."""
    if not load_rules():
        raise RunError("no rules are installed: nothing could be found")
    tvm_version: str | None = None
    settings = config.for_analysis
    jobs = min(config.jobs or _cores(), len(waiting))
    with WorkerPool(jobs, time_limit_s=config.time_limit, memory_limit_bytes=config.memory_limit) as pool:
        tasks = {pool.submit(FUNCTION, one.file, settings, 0): one for one in waiting}
        for event in pool.events():
            one = tasks.get(event.task)
            if one is None:
                continue
            failure: TaskFailure | None = None
            if isinstance(event, Item):
                try:
                    answer = read_answer(event.value)
                except ValueError as error:
                    failure = TaskFailure(FailureKind.CRASH, f"gave a wrong answer: {error}")
                else:
                    one.take(answer, config)
                    tvm_version = answer.tvm_version if isinstance(answer, Loaded) else tvm_version
            elif isinstance(event, Failed):
                failure = event.failure
            if failure is not None:
                # Whatever else this task may still report is not to be relied on.
                del tasks[event.task]
                if _goes_on(one, failure, config, debug):
                    tasks[pool.submit(FUNCTION, one.file, settings, one.unit)] = one
    return tvm_version


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _goes_on(one: _Progress, failure: TaskFailure, config: Config, debug: bool) -> bool:
    """Note a failure; whether the file is to be taken up again at `one.unit`. A crash or a want of memory
    after other work in the same process may be due to that work: the unit gets another try.
    """
    if one.found is not None and not one.loaded and one.found.units:
        raise RunError(f"TVM cannot be loaded: {failure.message}" + _tail(failure))
    after_other_work = not failure.fresh_worker or one.unit > one.first
    may_recover = failure.kind in (FailureKind.CRASH, FailureKind.MEMORY)
    again = may_recover and after_other_work and one.retries < _RETRIES
    if again:
        one.retries += 1
    else:
        one.checks += problem_checks([_problem(one, failure, debug)], one.path, config)
        one.retries = 0
        one.unit += 1
    one.first, one.loaded = one.unit, False
    return again or (one.found is not None and one.unit < len(one.found.units))


def _problem(one: _Progress, failure: TaskFailure, debug: bool) -> Problem:
    name, location = None, None
    if one.found is not None and one.unit < len(one.found.units):
        head = one.found.units[one.unit]
        name, location = head.name, head.location
    subject = "this input" if name is None else f"`{name}`"
    message = {
        FailureKind.CRASH: f"the analysis of {subject} crashed: the process {failure.message}",
        FailureKind.TIMEOUT: f"the analysis of {subject} {failure.message}",
        FailureKind.MEMORY: f"the analysis of {subject} {failure.message}",
        FailureKind.EXCEPTION: f"the analysis of {subject} failed: {_first_line(failure.message)}",
    }[failure.kind]
    detail = [f"last words: {line}" for line in failure.last_words[-_LAST_WORDS_SHOWN:]]
    return Problem("RLX904", message, location, name, (*detail, *(failure.traceback if debug else ())))


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else text


def _tail(failure: TaskFailure) -> str:
    return f" ({failure.last_words[-1]})" if failure.last_words else ""


def _result(one: _Progress) -> FileResult:
    reason = next((check.message for check in one.checks if check.rule.startswith(UNREADABLE_BLOCKS)), None)
    if one.functions:
        status, reason = "checked", None
    elif reason is not None:
        status = "failed"
    else:
        status, reason = "skipped", "no Relax function in it"
    status_of_input = InputStatus(one.path, one.functions, status, reason, tuple(dict.fromkeys(one.notes)))
    return FileResult(status_of_input, tuple(one.checks), tuple(one.memory), one.lines, tuple(one.estimates))
