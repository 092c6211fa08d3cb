"""The servers that this process has started, one for each set of variables that a library reads when it is loaded."""

from __future__ import annotations

import atexit
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from relax_lint.running.sandbox.syscalls import prctl
from tests.forking import program
from tests.forking.program import NUMBER_BYTES, REQUEST_BYTES, Program, become, early

_ROOT = Path(__file__).resolve().parents[2]
_THREADS = ("OMP_NUM_THREADS", "TVM_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_PRELOAD = "LD_PRELOAD"
_PR_SET_CHILD_SUBREAPER = 36

_servers: dict[tuple[tuple[str, str], ...], Server] = {}


class Forks(Protocol):
    """What forks a process."""

    def begin(self, program: Program, streams: Sequence[int]) -> int:
        """Fork a child of this process that runs a program on these streams: its number."""


class Here:
    """This process, which is itself the fork of a server, forks others."""

    def begin(self, program: Program, streams: Sequence[int]) -> int:
        """Fork a child of this process that runs a program on these streams: its number."""
        told, tells = os.pipe()
        if os.fork() == 0:
            become(program, streams, tells)
        os.close(tells)
        with open(told, "rb") as answer:
            return int(answer.read(NUMBER_BYTES))


def server_for(variables: Mapping[str, str]) -> Forks | None:
    """The server whose forks a process with these variables may be; none where there cannot be one."""
    if sys.platform != "linux" or "coverage" in sys.modules:
        # What a process has run is written down when its interpreter ends.
        return None
    if variables.get("PYTHONHASHSEED", "0") != "0":
        return None
    key, own = early(variables), early(os.environ)
    if program.is_forked:
        return Here() if key == own else None
    if key != own and _PRELOAD not in dict(key):
        # For one process a server would take longer than it saves.
        return None
    if key not in _servers:
        _servers[key] = Server(dict(key))
    return _servers[key]


def close_servers() -> None:
    """End them all, and with them the workers that they have forked."""
    for server in _servers.values():
        server.close()
    _servers.clear()


class Server:
    """A process that forks others, and the connection to it."""

    def __init__(self, own: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kept = dict({*os.environ.items()} - {*early(os.environ)})
        one_thread = dict.fromkeys(_THREADS, "1")
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forking.server", str(theirs.fileno())],
                cwd=_ROOT,
                env={**kept, **own, **one_thread, "PYTHONHASHSEED": "0"},
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._connection = ours
        self._one_at_a_time = threading.Lock()

    def begin(self, program: Program, streams: Sequence[int]) -> int:
        """Fork a child of this process that runs a program on these streams: its number."""
        with self._one_at_a_time, _adopting():
            socket.send_fds(self._connection, [pickle.dumps(program)], [*streams])
            answer = self._connection.recv(REQUEST_BYTES)
        if not answer:
            raise RuntimeError("the server that forks has ended")
        return int(answer)

    def close(self) -> None:
        """End it."""
        self._connection.close()
        self._process.wait()


@contextmanager
def _adopting() -> Iterator[None]:
    """Descendants that lose their parent become children of this process."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        prctl(_PR_SET_CHILD_SUBREAPER, 0)


atexit.register(close_servers)
# After a fork they are those of the parent.
os.register_at_fork(after_in_child=_servers.clear)
