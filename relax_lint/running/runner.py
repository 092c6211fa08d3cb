"""One run over paths: find the inputs, let worker processes judge them, collect the report.

Imports neither TVM nor sympy: all that reads or judges untrusted input happens in the workers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from relax_lint.judging.problems import problem_checks
from relax_lint.judging.selection import require_known_scopes
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.results.report import FileResult, Report
from relax_lint.running.messages import FileData
from relax_lint.running.outcome import Outcome
from relax_lint.running.progress import INTERRUPTED, Progress, Skipped, interrupted_outcome
from relax_lint.settings.config import Config
from relax_lint.sources.discovery import looked_at
from relax_lint.sources.inputs import Input, UnreadableError
from relax_lint.sources.kinds import is_model
from relax_lint.sources.ordinary import LARGEST, Ordinary
from relax_lint.sources.prefilter import test_of
from relax_lint.support.errors import UserError
from relax_lint.suppressions.policy import (
    apply_policy,
    idle_assumptions,
    with_baseline,
    with_notes_on_accepted_blocks,
)

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from relax_lint.running.cache import Cache
    from relax_lint.running.pool import WorkerPool
    from relax_lint.running.working import Tell


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
    judged again. With `executor` the inputs, but models, are its tasks in chunks; what other machines find is
    not put into the cache. `tell` hears what is being done here where that may take long.

    Raises RunError where TVM cannot be loaded or knows no such target, and BaselineError for a baseline that
    cannot be read.
    """
    notes: list[str] = []
    found = looked_at(
        paths,
        exclude=config.exclude,
        stdin_filename=stdin_filename,
        follow_links=config.follow_links,
        tell=None if config.follow_links else notes.append,
        limit=min(LARGEST, config.max_file_size),
    )
    report = judge_inputs(found, config, debug=debug, cache=cache, executor=executor, tell=tell)
    return replace(report, notes=(*report.notes, *notes)) if notes else report


def judge_inputs(
    inputs: Iterable[Input | Problem | Ordinary],
    config: Config,
    *,
    debug: bool = False,
    cache: Cache | None = None,
    executor: Executor | None = None,
    tell: Tell | None = None,
    partial: bool = False,
) -> Report:
    """As `run`, for inputs that were found already; the files of the report are in their order. With
    `partial` a KeyboardInterrupt ends the work, and the report holds the inputs that were judged by then, if
    there are any with Relax; so does, in any case, an executor that is lost, which else raises ExecutorError.
    """
    progress: list[Progress | Skipped] = []
    for found in inputs:
        if isinstance(found, Problem):
            path = found.location.path if found.location is not None else ""
            progress.append(Progress(path, checks=list(problem_checks([found], path, config))))
        elif isinstance(found, Ordinary):
            progress.append(Skipped(found.path))
        else:
            progress.append(_admit(found, config))
    waiting: list[Progress] = []
    for one in progress:
        if isinstance(one, Progress) and one.file is not None:
            one.known = cache.get(one.file) if cache is not None and one.repeatable else None
            waiting += [one] if one.known is None else []
    interrupted = False
    lost = ""
    gaps: tuple[str, ...] = ()
    try:
        # Most runs find everything in the cache, or nothing to do.
        gaps = _work(waiting, config, debug, cache, executor, tell) if waiting else ()
    except KeyboardInterrupt:
        interrupted = partial and any(one.is_known and one.outcome.result.input.functions for one in progress)
        if not interrupted:
            raise
    except UserError as error:
        if not (partial and _is_lost_executor(error, executor)):
            raise
        interrupted, lost = True, str(error)
    if cache is not None:
        cache.close()
    if interrupted:
        return _interrupted_report(progress, config, lost)
    report = _report([one.outcome for one in progress], config, gaps)
    require_known_scopes(config, report.memory)
    return report


def _work(
    waiting: list[Progress],
    config: Config,
    debug: bool,
    cache: Cache | None,
    executor: Executor | None,
    tell: Tell | None,
) -> tuple[str, ...]:
    """Let others judge what is not known: the executor, and workers here. What their sandboxes lacked."""
    from relax_lint.running.working import nobody, work

    if executor is not None:
        from relax_lint.running.handing_out import hand_out

        hand_out([one for one in waiting if one.repeatable], config, debug, executor, tell or nobody)
        waiting = [one for one in waiting if not one.repeatable]
    return work(waiting, config, debug, cache, tell or nobody) if waiting else ()


def _is_lost_executor(error: UserError, executor: Executor | None) -> bool:
    if executor is None:
        return False
    from relax_lint.running.executors import ExecutorError

    return isinstance(error, ExecutorError)


def _interrupted_report(progress: Iterable[Progress | Skipped], config: Config, lost: str) -> Report:
    """What is known. Nothing is said of what would have come up in the inputs that were not judged."""
    reason = f"not analysed: {lost}" if lost else INTERRUPTED
    found = [interrupted_outcome(one, reason) for one in progress]
    files = tuple(apply_policy(outcome.result, outcome.comments, config) for outcome in found)
    version = next((outcome.tvm_version for outcome in found if outcome.tvm_version is not None), None)
    report = replace(with_baseline(Report(files, version), config), stale=(), interrupted=True, lost=lost)
    return with_notes_on_accepted_blocks(report)


def judge_with(pool: WorkerPool, found: Input, config: Config) -> FileResult:
    """All work on one input, with worker processes that are kept. After an exception, which is what `run`
    raises or `relax_lint.running.pool.Interrupted`, the pool is in no state to be used again.
    """
    from relax_lint.running.working import nobody, work

    one = _admit(found, config)
    if isinstance(one, Progress) and one.file is not None:
        work([one], config, False, None, nobody, pool)
    return _report([one.outcome], config).files[0]


def _report(outcomes: Sequence[Outcome], config: Config, gaps: Sequence[str] = ()) -> Report:
    files = [apply_policy(outcome.result, outcome.comments, config) for outcome in outcomes]
    used = {name for outcome in outcomes for name in outcome.assumptions}
    judged = any(outcome.result.input.functions for outcome in outcomes)
    lacking = {*gaps, *(gap for outcome in outcomes for gap in outcome.gaps)}
    notes = idle_assumptions(used, config) if judged else ()
    if lacking:
        from relax_lint.running.sandbox.gaps import note

        notes += (note(lacking),)
    report = Report(
        tuple(files),
        next((outcome.tvm_version for outcome in outcomes if outcome.tvm_version is not None), None),
        notes,
    )
    return with_notes_on_accepted_blocks(with_baseline(report, config))


def _admit(found: Input, config: Config) -> Progress | Skipped:
    """Read an input; without a file to work on where it cannot be read."""
    try:
        data = found.read()
        if found.kind != "json" and len(data) > config.max_file_size:
            raise UnreadableError(f"larger than {config.max_file_size:,} bytes")
    except UnreadableError as error:
        problem = Problem(ProblemKind.PARSE_ERROR, f"cannot be read: {error}", None)
        return Progress(found.path, checks=list(problem_checks([problem], found.path, config)))
    may_matter = test_of(found.kind, named=found.named)
    if may_matter is not None and not may_matter(data):
        return Skipped(found.path)
    # The weights of a model may lie in other files, here: what it gives is neither kept nor asked of others.
    source = os.path.abspath(found.source) if is_model(found.kind) and found.source is not None else None
    file = FileData(data, found.path, found.kind, found.named, source)
    return Progress(found.path, file, repeatable=source is None)
