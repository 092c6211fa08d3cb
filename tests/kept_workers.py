"""Worker processes that outlive a test: most tests ask what is said of a text, and to load TVM takes longer than to say it.

A pool is handed from one test to the next in one process where a new one would get the same limits, environment,
import path and packages. What tests prove of workers themselves needs new ones: see `cold` and `_OWN_WORKERS` in
`conftest.py`.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

import pytest

from relax_lint.commands import ignores
from relax_lint.replay import confirm
from relax_lint.rule import rule_packages
from relax_lint.running import pools, starting, working
from relax_lint.running.pool import WorkerPool
from relax_lint.settings.config import Config

_AT_MOST = 4
_JOBS = 1
"""The tests themselves run in as many processes as there are cores."""
_idle: dict[Hashable, WorkerPool] = {}
_CALLERS = (working, confirm, ignores)


def keep_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what needs a pool take a kept one, for the duration of a test."""
    for module in _CALLERS:
        monkeypatch.setattr(module, "new_pool", kept_pool)


@contextmanager
def kept_pool(config: Config, tasks: int) -> Iterator[WorkerPool]:
    """In the place of `relax_lint.running.pools.new_pool`."""
    jobs = config.jobs or _JOBS
    limits = (jobs, config.time_limit, config.memory_limit, config.sandbox, rule_packages())
    with held(limits, lambda: pools.new_pool(config, jobs)) as pool:
        yield pool


@contextmanager
def held(like: Hashable, new: Callable[[], WorkerPool]) -> Iterator[WorkerPool]:
    """A pool that is to be `like` this, an idle one if there is one."""
    if threading.current_thread() is not threading.main_thread():
        # A worker ends with the thread that has started it.
        with new() as pool:
            yield pool
        return
    key = (like, *_surroundings())
    pool = _idle.pop(key) if key in _idle else new()
    try:
        yield pool
    except BaseException:
        pool.close()
        raise
    _idle[key] = pool
    while len(_idle) > _AT_MOST:
        _idle.pop(next(iter(_idle))).close()


def close_kept_workers() -> None:
    """End them all."""
    for pool in _idle.values():
        pool.close()
    _idle.clear()


def _surroundings() -> Iterator[Hashable]:
    """What else a worker is started with."""
    yield from (os.environ.get(name) for name in starting.KEPT_VARIABLES)
    yield tuple(starting._import_path())
    yield tuple(starting.python_path())


atexit.register(close_kept_workers)
# After a fork they are those of the parent: to close them here would end its workers.
os.register_at_fork(after_in_child=_idle.clear)
