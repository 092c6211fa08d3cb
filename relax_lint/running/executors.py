"""Executors for the work on files that are named on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

_ADDRESS = re.compile(r"dask://(?P<address>[^/\s@]+:[0-9]+)/?")
_CONNECT_S = 10


class ExecutorError(Exception):
    """An executor that cannot be had; the text is for the user."""


@contextmanager
def open_executor(name: str) -> Iterator[Executor]:
    """The executor `dask://host:port`: a Dask cluster, by the address of its scheduler.

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
    with client:
        yield client.get_executor()
