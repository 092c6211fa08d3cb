"""Worker processes that outlive a task of an executor: loading TVM would cost more than most tasks."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from relax_lint.running.pool import WorkerPool
from relax_lint.running.pools import new_pool
from relax_lint.settings.config import Config

IDLE_S = 60.0
"""How long a pool without work is kept at least."""

_Limits = tuple[float, int | None, str]
_lock = threading.Lock()
_idle: list[tuple[float, _Limits, WorkerPool]] = []
_timer: threading.Timer | None = None


@contextmanager
def kept_pool(config: Config) -> Iterator[WorkerPool]:
    """A pool of one worker with the limits that the configuration sets, of its own for as long as this lasts.

    It is kept for the next caller in this process, in whatever thread, unless an exception ends its use.
    """
    limits = (config.time_limit, config.memory_limit, config.sandbox)
    pool = _taken(limits) or new_pool(config, 1)
    try:
        yield pool
    except BaseException:
        pool.close()
        raise
    with _lock:
        _idle.append((time.monotonic(), limits, pool))
        _watch()


def close_kept_pools(idle_s: float = 0.0) -> None:
    """End the worker processes that have had no work for so many seconds."""
    before = time.monotonic() - idle_s
    with _lock:
        old = [entry for entry in _idle if entry[0] <= before]
        _idle[:] = [entry for entry in _idle if entry[0] > before]
    for _, _, pool in old:
        pool.close()


def _taken(limits: _Limits) -> WorkerPool | None:
    with _lock:
        for entry in reversed(_idle):
            if entry[1] == limits:
                _idle.remove(entry)
                return entry[2]
    return None


def _watch() -> None:
    """See to it that idle pools end in time; called with the lock held."""
    global _timer
    if _timer is None:
        _timer = threading.Timer(IDLE_S / 2, _close_old)
        _timer.daemon = True
        _timer.start()


def _close_old() -> None:
    global _timer
    close_kept_pools(IDLE_S)
    with _lock:
        _timer = None
        if _idle:
            _watch()


def _forget() -> None:
    """After a fork the pools are those of the parent: to close them here would end its workers."""
    global _lock, _timer
    _lock, _timer = threading.Lock(), None
    _idle.clear()


atexit.register(close_kept_pools)
os.register_at_fork(after_in_child=_forget)
