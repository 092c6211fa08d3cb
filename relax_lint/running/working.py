"""Worker processes judge the inputs that nothing is known of, and recover from what an input does to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace

from relax_lint.judging.problems import problem_checks
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.rule import load_rules
from relax_lint.running.cache import Cache
from relax_lint.running.messages import FUNCTION, LOADING, Doing
from relax_lint.running.order import Order
from relax_lint.running.pool import Event, Failed, FailureKind, Item, TaskFailure, WorkerPool
from relax_lint.running.pools import needs_of, new_pool
from relax_lint.running.progress import Progress
from relax_lint.running.sandbox.gaps import SandboxError
from relax_lint.settings.config import Config
from relax_lint.support.errors import RunError

_LAST_WORDS_SHOWN = 6
_RETRIES = 1

Tell = Callable[[str], None]
"""Receives progress messages for the user."""


def nobody(words: str) -> None:
    """Hears what nobody is told."""


def work(
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
            # What cannot be lowered in time is judged as it stands.
            lower = config.lower and not one.is_unlowered
            one.order = _order(one, replace(config, lower=lower))
            own = settings if lower == settings.lower else replace(settings, lower=lower)
            return workers.submit(FUNCTION, one.file, own, one.unit, needs=needs_of(one.file, config))

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
                one.finished = True
                if cache is not None and one.file is not None:
                    cache.put(one.file, one.outcome)
            if failure is not None:
                # Whatever else this task may still report is not to be relied on.
                del tasks[event.task]
                if _goes_on(one, failure, config, debug):
                    tasks[submit(one)] = one
                else:
                    one.finished = True
            if event.task not in tasks:
                tell(count(len(waiting) - len(tasks), len(waiting)))
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


def count(done: int, total: int) -> str:
    """How far a run is, for the user."""
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
        if one.is_lowering and not one.is_unlowered:
            one.is_unlowered = again = True
        else:
            one.unit += 1
    one.first, one.loaded, one.is_lowering = one.unit, False, False
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
    if one.is_lowering:
        subject = f"TVM's lowering of {subject} for `{one.target}`"
        ended = "crashed: the process " if failure.kind is FailureKind.CRASH else ""
        words = f"{subject} {ended}{failure.message}; the module is judged as it stands"
        return Problem(ProblemKind.ANALYSIS_FAILED, first_line(words), location, name, in_part=True)
    message = {
        FailureKind.CRASH: f"the analysis of {subject} crashed: the process {failure.message}",
        FailureKind.TIMEOUT: f"the analysis of {subject} {failure.message}",
        FailureKind.MEMORY: f"the analysis of {subject} {failure.message}",
        FailureKind.EXCEPTION: f"the analysis of {subject} failed: {first_line(failure.message)}",
    }[failure.kind]
    detail = [f"last words: {line}" for line in failure.last_words[-_LAST_WORDS_SHOWN:]]
    return Problem(
        ProblemKind.ANALYSIS_FAILED, message, location, name, (*detail, *(failure.traceback if debug else ()))
    )


def first_line(text: str) -> str:
    """The first line of a message."""
    return text.splitlines()[0] if text else text


def _tail(failure: TaskFailure) -> str:
    return f" ({failure.last_words[-1]})" if failure.last_words else ""
