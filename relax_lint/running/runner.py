"""One run over paths: find the inputs, let worker processes judge them, collect the report.

Imports neither TVM nor sympy: all that reads or judges untrusted input happens in the workers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from relax_lint import __version__
from relax_lint.judging.problems import problem_checks
from relax_lint.judging.selection import require_known_scopes
from relax_lint.results.problem import ProblemKind
from relax_lint.results.report import FileResult, Report
from relax_lint.rule import load_rules
from relax_lint.running.file_task import (
    FUNCTION,
    LOADING,
    Doing,
    FileData,
)
from relax_lint.running.order import Order
from relax_lint.running.outcome import Outcome, outcome_text, read_outcome
from relax_lint.running.pool import Event, Failed, FailureKind, Item, TaskFailure, WorkerPool
from relax_lint.running.pools import needs_of, new_pool
from relax_lint.running.progress import Progress
from relax_lint.running.sandbox import gaps as sandbox_gaps
from relax_lint.running.sandbox.gaps import SandboxError
from relax_lint.settings.config import Config
from relax_lint.sources.discovery import Input, UnreadableError, discover
from relax_lint.sources.models import is_model
from relax_lint.sources.prefilter import may_contain_relax
from relax_lint.sources.unit import Problem
from relax_lint.support.errors import RunError
from relax_lint.suppressions.policy import (
    apply_policy,
    idle_assumptions,
    with_baseline,
    with_notes_on_accepted_blocks,
)

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from relax_lint.running.cache import Cache

_LAST_WORDS_SHOWN = 6
_RETRIES = 1

Tell = Callable[[str], None]
"""Receives progress messages for the user."""


def run(
    paths: Sequence[str],
    config: Config,
    *,
    stdin_filename: str | None = None,
    debug: bool = False,
    cache: Cache | None = None,
    executor: Executor | None = None,
    tell: Tell | None = None,
) -> Report:
    """Judge every unit in the inputs at or below `paths` (`-` is standard input).

    With `debug` a finding about a failed analysis shows the Python traceback. What `cache` knows is not
    judged again. With `executor` each input but models is one task of it; what other machines find is not put
    into the cache. `tell` hears what is being done here where that may take long. Raises RunError when TVM
    cannot be loaded or knows no such target, and BaselineError for a baseline that cannot be read.
    """
    found = discover(
        paths, exclude=config.exclude, stdin_filename=stdin_filename, follow_links=config.follow_links
    )
    return judge_inputs(found, config, debug=debug, cache=cache, executor=executor, tell=tell)


def judge_inputs(
    inputs: Iterable[Input | Problem],
    config: Config,
    *,
    debug: bool = False,
    cache: Cache | None = None,
    executor: Executor | None = None,
    tell: Tell | None = None,
) -> Report:
    """As `run`, for inputs that were found already; the files of the report are in their order."""
    progress: list[Progress] = []
    for found in inputs:
        if isinstance(found, Problem):
            path = found.location.path if found.location is not None else ""
            progress.append(Progress(path, checks=list(problem_checks([found], path, config))))
        else:
            progress.append(_admit(found, config))
    waiting = []
    for one in progress:
        if one.file is not None:
            one.known = cache.get(one.file) if cache is not None and one.repeatable else None
            waiting += [one] if one.known is None else []
    if waiting and executor is not None:
        _hand_out([one for one in waiting if one.repeatable], config, debug, executor, tell or _nobody)
        waiting = [one for one in waiting if not one.repeatable]
    gaps = _work(waiting, config, debug, cache, tell or _nobody) if waiting else ()
    if cache is not None:
        cache.close()
    report = _report([one.outcome for one in progress], config, gaps)
    require_known_scopes(config, report.memory)
    return report


def judge_alone(file: FileData, config: Config, debug: bool, version: str) -> str:
    """All work on one input, as a task for an executor: in a worker process of its own, wherever that is.

    The answer is the text of an Outcome. Raises RunError where TVM cannot be loaded or another version of the
    tool than `version` is installed.
    """
    if version != __version__:
        raise RunError(f"the executor runs relax-lint {__version__}, not {version}")
    one = Progress(file.path, file)
    gaps = _work([one], config, debug, None, _nobody)
    return outcome_text(replace(one.outcome, gaps=gaps))


def judge_with(pool: WorkerPool, found: Input, config: Config) -> FileResult:
    """All work on one input, with worker processes that are kept. After an exception, which is what `run`
    raises or `relax_lint.running.pool.Interrupted`, the pool is in no state to be used again.
    """
    one = _admit(found, config)
    if one.file is not None:
        _work([one], config, False, None, _nobody, pool)
    return _report([one.outcome], config).files[0]


def _report(outcomes: Sequence[Outcome], config: Config, gaps: Sequence[str] = ()) -> Report:
    files = [apply_policy(outcome.result, outcome.comments, config) for outcome in outcomes]
    used = {name for outcome in outcomes for name in outcome.assumptions}
    judged = any(outcome.result.input.functions for outcome in outcomes)
    lacking = {*gaps, *(gap for outcome in outcomes for gap in outcome.gaps)}
    notes = idle_assumptions(used, config) if judged else ()
    notes += (sandbox_gaps.note(lacking),) if lacking else ()
    report = Report(
        tuple(files),
        next((outcome.tvm_version for outcome in outcomes if outcome.tvm_version is not None), None),
        notes,
    )
    return with_notes_on_accepted_blocks(with_baseline(report, config))


def _admit(found: Input, config: Config) -> Progress:
    """Read an input; without a file to work on where it cannot be read or holds no Relax for certain."""
    try:
        data = found.read()
        if found.kind != "json" and len(data) > config.max_file_size:
            raise UnreadableError(f"larger than {config.max_file_size:,} bytes")
    except UnreadableError as error:
        problem = Problem(ProblemKind.PARSE_ERROR, f"cannot be read: {error}", None)
        return Progress(found.path, checks=list(problem_checks([problem], found.path, config)))
    # The weights of a model may lie in other files, here: what it gives is neither kept nor asked of others.
    source = os.path.abspath(found.source) if is_model(found.kind) and found.source is not None else None
    progress = Progress(found.path, repeatable=source is None)
    if _may_matter(found, data):
        progress.file = FileData(data, found.path, found.kind, found.named, source)
    return progress


def _nobody(words: str) -> None:
    pass


def _may_matter(found: Input, data: bytes) -> bool:
    if is_model(found.kind):
        return True
    if found.kind != "json":
        return may_contain_relax(data)
    return found.named or (b'"nodes"' in data and b'"root' in data)


def _hand_out(waiting: list[Progress], config: Config, debug: bool, executor: Executor, tell: Tell) -> None:
    """Let an executor judge the files."""
    from concurrent.futures import as_completed

    tasks = {
        executor.submit(judge_alone, one.file, replace(config, jobs=1), debug, __version__): one
        for one in waiting
        if one.file is not None
    }
    try:
        for done, task in enumerate(as_completed(tasks)):
            tell(_count(done, len(tasks)))
            one = tasks[task]
            try:
                one.known = read_outcome(task.result())
            except RunError:
                raise
            except Exception as error:
                # The task handles what an input can do: this is the executor's doing.
                message = f"the executor did not analyse this input: {type(error).__name__}: {error}"
                problem = Problem(ProblemKind.ANALYSIS_FAILED, _first_line(message), None)
                one.checks += problem_checks([problem], one.path, config)
    finally:
        for task in tasks:
            task.cancel()


def _work(
    waiting: list[Progress],
    config: Config,
    debug: bool,
    cache: Cache | None,
    tell: Tell,
    pool: WorkerPool | None = None,
) -> tuple[str, ...]:
    """Let the workers judge the files: those of `pool`, else new ones. What their sandboxes lacked."""
    if not load_rules():
        raise RunError("no rules are installed: nothing could be found")
    settings = config.for_analysis
    with nullcontext(pool) if pool is not None else new_pool(config, len(waiting)) as workers:

        def submit(one: Progress) -> int:
            one.order = _order(one, config)
            return workers.submit(FUNCTION, one.file, settings, one.unit, needs=needs_of(one.file, config))

        tasks = {submit(one): one for one in waiting}
        for event in _events(workers):
            one = tasks.get(event.task)
            if one is None:
                continue
            failure: TaskFailure | None = None
            if isinstance(event, Item):
                try:
                    answer = one.read(event.value)
                except ValueError as error:
                    failure = TaskFailure(FailureKind.CRASH, f"returned an invalid response: {error}")
                    workers.abandon(event.task)
                else:
                    one.take(answer, config)
                    if isinstance(answer, Doing):
                        tell(f"{one.path}: {answer.what}")
            elif isinstance(event, Failed):
                failure = event.failure
            else:
                del tasks[event.task]
                if cache is not None and one.file is not None:
                    cache.put(one.file, one.outcome)
            if failure is not None:
                # Whatever else this task may still report is not to be relied on.
                del tasks[event.task]
                if _goes_on(one, failure, config, debug):
                    tasks[submit(one)] = one
            if event.task not in tasks:
                tell(_count(len(waiting) - len(tasks), len(waiting)))
        return tuple(sorted(workers.gaps))


def _order(one: Progress, config: Config) -> Order:
    # What a model holds is one unit, wherever its bytes are.
    size = 0 if one.file is None else len(one.file.data)
    return Order(size, one.unit, None if one.found is None else len(one.found.units), config.lower)


def _events(workers: WorkerPool) -> Iterator[Event]:
    try:
        yield from workers.events()
    except SandboxError as error:
        raise RunError(str(error)) from None


def _count(done: int, total: int) -> str:
    return f"{done} of {total} inputs judged"


def _goes_on(one: Progress, failure: TaskFailure, config: Config, debug: bool) -> bool:
    """Note a failure; whether the file is to be taken up again at `one.unit`. A crash or a want of memory
    after other work in the same process may be due to that work: the unit gets another try.
    """
    while_loading = one.found is not None and not one.loaded and bool(one.found.units)
    after_other_work = not failure.fresh_worker or one.unit > one.first
    may_recover = failure.kind in (FailureKind.CRASH, FailureKind.MEMORY)
    again = (while_loading or (may_recover and after_other_work)) and one.retries < _RETRIES
    if while_loading and not again:
        _require_tvm(config)
    if again:
        one.retries += 1
    else:
        one.checks += problem_checks([_problem(one, failure, debug)], one.path, config)
        one.repeatable = False
        one.retries = 0
        one.unit += 1
    one.first, one.loaded = one.unit, False
    return again or (one.found is not None and one.unit < len(one.found.units))


def _require_tvm(config: Config) -> None:
    """Raise RunError where a worker that is handed no input reports that it cannot load TVM. That a worker
    was killed meanwhile says nothing about the next one.
    """
    with new_pool(config, 1) as workers:
        workers.submit(LOADING)
        for event in _events(workers):
            kinds = (FailureKind.EXCEPTION, FailureKind.MEMORY)
            if isinstance(event, Failed) and event.failure.kind in kinds:
                raise RunError(f"TVM cannot be loaded: {event.failure.message}" + _tail(event.failure))


def _problem(one: Progress, failure: TaskFailure, debug: bool) -> Problem:
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
    return Problem(
        ProblemKind.ANALYSIS_FAILED, message, location, name, (*detail, *(failure.traceback if debug else ()))
    )


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else text


def _tail(failure: TaskFailure) -> str:
    return f" ({failure.last_words[-1]})" if failure.last_words else ""
