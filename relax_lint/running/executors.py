"""Executors for the work on files that are named on the command line."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from relax_lint.support.errors import UserError

_ADDRESS = re.compile(r"dask://(?P<address>[^/\s@]+:[0-9]+)/?")
_CONNECT_S = 10
_PULSE_S = 1.0
# A cluster may begin, or begin again, its workers when there is work.
_PATIENCE_S = 60.0
# What a connection that is lost again and again takes with it is not sent forever.
_SENT_AT_MOST = 5


class ExecutorError(UserError):
    """An executor that cannot be had, or has no workers any more; the text is for the user."""


@contextmanager
def open_executor(name: str, *, debug: bool = False) -> Iterator[Executor]:
    """The executor `dask://host:port`: a Dask cluster, by the address of its scheduler. Its tasks fail with
    ExecutorError where the scheduler is gone or the cluster has no worker for a minute. Without `debug` Dask
    logs nothing meanwhile: what becomes of the tasks is told by this process.

    Raises ExecutorError.
    """
    match = _ADDRESS.fullmatch(name)
    if match is None:
        raise ExecutorError(f"`--executor` takes dask://host:port, not `{name}`")
    try:
        from distributed import Client
    except ImportError:
        raise ExecutorError("`--executor dask://...` needs the extra `dask`: relax-lint[dask]") from None
    with _log(shown=debug):
        try:
            client = Client(f"tcp://{match['address']}", timeout=_CONNECT_S)
        except (OSError, TimeoutError) as error:
            raise ExecutorError(f"no Dask scheduler answers at {match['address']}: {error}") from None
        inner, cluster = client.get_executor(pure=False), Cluster(client, match["address"])
        with client, WatchedExecutor(inner, cluster) as executor:
            yield executor


@contextmanager
def _log(*, shown: bool) -> Iterator[None]:
    before = logging.root.manager.disable
    logging.disable(before if shown else logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


@dataclass(frozen=True)
class Cluster:
    """What is asked of a Dask cluster while tasks are with it."""

    client: Any
    address: str

    def has_workers(self) -> bool:
        """Whether somebody is there to work."""
        try:
            return bool(self.client.sync(self.client.scheduler.ncores, callback_timeout=_CONNECT_S))
        except Exception:
            # Whatever is wrong with the connection, nobody works for us over it.
            return False

    def is_lost(self) -> bool:
        """Whether the connection is gone for good: Dask has tried to connect again."""
        return self.client.status in ("closing", "closed")


@dataclass(eq=False)
class _Task:
    """A call and its future; `inner` is that of the other executor, None where it has to be sent again,
    `refused` why that did not take it.
    """

    call: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
    outer: Future[Any] = field(default_factory=Future)
    inner: Future[Any] | None = None
    refused: Exception | None = None
    sent: int = 0


class WatchedExecutor(Executor):
    """Hands tasks on to another executor, sends those again that it loses, and gives them up where it has had
    no workers for a while or is lost itself.
    """

    def __init__(self, inner: Executor, cluster: Cluster) -> None:
        self._inner = inner
        self._cluster = cluster
        self._waiting: set[_Task] = set()
        self._closed = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As every executor does."""
        task = _Task((fn, args, kwargs))
        self._send(task)
        self._waiting.add(task)
        task.outer.add_done_callback(lambda _: self._forget(task))
        return task.outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop watching; what the other executor does is its own affair."""
        self._closed.set()

    def _send(self, task: _Task) -> None:
        function, arguments, named = task.call
        task.sent += 1
        try:
            task.inner = self._inner.submit(function, *arguments, **named)
        except Exception as error:
            # While it connects again it takes nothing: the watcher tries later.
            task.refused = error
        else:
            task.inner.add_done_callback(lambda done: self._hand_back(task, done))

    def _hand_back(self, task: _Task, done: Future[Any]) -> None:
        if done.cancelled():
            # Not by us: with the connection Dask loses all that it was asked.
            task.inner = None
            return
        error = done.exception()
        # It may have been given up, or cancelled, meanwhile.
        with suppress(InvalidStateError):
            if error is not None:
                task.outer.set_exception(error)
            else:
                task.outer.set_result(done.result())

    def _forget(self, task: _Task) -> None:
        self._waiting.discard(task)
        if task.outer.cancelled() and task.inner is not None:
            task.inner.cancel()

    def _watch(self) -> None:
        alone_since: float | None = None
        while not self._closed.wait(_PULSE_S):
            if not self._waiting:
                alone_since = None
            elif self._cluster.is_lost():
                self._give_up(f"the Dask scheduler at {self._cluster.address} is gone")
            elif self._cluster.has_workers():
                alone_since = None
                self._send_again()
            else:
                alone_since = time.monotonic() if alone_since is None else alone_since
                if time.monotonic() - alone_since >= _PATIENCE_S:
                    cluster = f"the Dask cluster at {self._cluster.address}"
                    self._give_up(f"{cluster} has had no worker for {_PATIENCE_S:g} seconds")

    def _send_again(self) -> None:
        for task in list(self._waiting):
            if task.inner is None:
                if task.sent == _SENT_AT_MOST:
                    lost = ConnectionError(f"lost {task.sent} times with the connection")
                    self._fail(task, task.refused or lost)
                else:
                    self._send(task)

    def _give_up(self, message: str) -> None:
        for task in list(self._waiting):
            self._fail(task, ExecutorError(message))

    def _fail(self, task: _Task, error: Exception) -> None:
        with suppress(InvalidStateError):
            task.outer.set_exception(error)
