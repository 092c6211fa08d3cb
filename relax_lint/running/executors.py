"""Executors for the work on files that are named on the command line."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from typing import Any

from relax_lint.support.errors import UserError

_ADDRESS = re.compile(r"dask://(?P<address>[^/\s@]+:[0-9]+)/?")
_CONNECT_S = 10
_PULSE_S = 1.0
# A cluster may begin, or begin again, its workers when there is work.
_PATIENCE_S = 60.0


class ExecutorError(UserError):
    """An executor that cannot be had, or has no workers any more; the text is for the user."""


@contextmanager
def open_executor(name: str) -> Iterator[Executor]:
    """The executor `dask://host:port`: a Dask cluster, by the address of its scheduler. Its tasks fail with
    ExecutorError where the cluster has no worker for a minute.

    Raises ExecutorError.
    """
    match = _ADDRESS.fullmatch(name)
    if match is None:
        raise ExecutorError(f"`--executor` takes dask://host:port, not `{name}`")
    try:
        from distributed import Client
    except ImportError:
        raise ExecutorError("`--executor dask://...` needs the extra `dask`: relax-lint[dask]") from None
    try:
        client = Client(f"tcp://{match['address']}", timeout=_CONNECT_S)
    except (OSError, TimeoutError) as error:
        raise ExecutorError(f"no Dask scheduler answers at {match['address']}: {error}") from None

    def has_workers() -> bool:
        try:
            return bool(client.sync(client.scheduler.ncores, callback_timeout=_CONNECT_S))
        except Exception:
            # Whatever is wrong with the connection, nobody works for us over it.
            return False

    with client, WatchedExecutor(client.get_executor(), match["address"], has_workers) as executor:
        yield executor


class WatchedExecutor(Executor):
    """Hands tasks on to another executor, and gives them up where that has had no workers for a while."""

    def __init__(self, inner: Executor, address: str, has_workers: Callable[[], bool]) -> None:
        self._inner = inner
        self._address = address
        self._has_workers = has_workers
        self._waiting: set[Future[Any]] = set()
        self._closed = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As every executor does."""
        inner, outer = self._inner.submit(fn, *args, **kwargs), Future[Any]()
        self._waiting.add(outer)

        def hand_back(done: Future[Any]) -> None:
            self._waiting.discard(outer)
            # It may have been given up, or cancelled, meanwhile.
            with suppress(InvalidStateError):
                if done.cancelled():
                    outer.cancel()
                elif (error := done.exception()) is not None:
                    outer.set_exception(error)
                else:
                    outer.set_result(done.result())

        inner.add_done_callback(hand_back)
        outer.add_done_callback(lambda done: inner.cancel() if done.cancelled() else None)
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop watching; what the other executor does is its own affair."""
        self._closed.set()

    def _watch(self) -> None:
        alone_since: float | None = None
        while not self._closed.wait(_PULSE_S):
            now = time.monotonic()
            if not self._waiting or self._has_workers():
                alone_since = None
                continue
            alone_since = now if alone_since is None else alone_since
            if now - alone_since >= _PATIENCE_S:
                self._give_up()

    def _give_up(self) -> None:
        message = f"the Dask cluster at {self._address} has had no worker for {_PATIENCE_S:g} seconds"
        for task in list(self._waiting):
            self._waiting.discard(task)
            with suppress(InvalidStateError):
                task.set_exception(ExecutorError(message))
