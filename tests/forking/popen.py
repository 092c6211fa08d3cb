"""`subprocess.Popen` whose process is forked where it would be started, where that makes no difference."""

from __future__ import annotations

import os
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from relax_lint.replay import machine
from relax_lint.running import starting
from tests.forking.program import Program, understood
from tests.forking.server_process import Forks, server_for

_UNDERSTOOD = {"cwd", "env", "start_new_session", "stdin", "stdout", "stderr", "bufsize", "close_fds"}
_UNDERSTOOD |= {"text", "encoding", "errors", "universal_newlines"}


class Forked(subprocess.Popen[Any]):
    """As `subprocess.Popen`; what cannot be forked is started."""

    def __init__(self, words: Any, **options: Any) -> None:
        self._server: Forks | None = None
        self._program: Program | None = None
        understandable = isinstance(words, list | tuple) and {*filter(options.get, options)} <= _UNDERSTOOD
        behind = understood(words) if understandable else None
        if behind is not None:
            given = options.get("env")
            variables = dict(os.environ if given is None else given)
            folder = os.path.abspath(os.fspath(options.get("cwd") or os.getcwd()))
            self._program = Program(behind, folder, variables, bool(options.get("start_new_session")))
            self._server = server_for(variables)
        super().__init__(words, **options)

    def _execute_child(self, *given: Any) -> None:
        # The ends of the pipes are at the same place in Python 3.10 to 3.13.
        pipes = given[10:16]
        if self._server is None or self._program is None:
            super()._execute_child(*given)  # type: ignore[misc]
            return
        streams = [end if end != -1 else number for number, end in enumerate((pipes[0], pipes[3], pipes[5]))]
        self.pid = self._server.begin(self._program, streams)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def run(
    words: Any,
    *,
    input: Any = None,
    capture_output: bool = False,
    timeout: float | None = None,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """As `subprocess.run`."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    if capture_output:
        options["stdout"] = options["stderr"] = subprocess.PIPE
    with Forked(words, **options) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
        code = process.wait()
    if check and code:
        raise subprocess.CalledProcessError(code, words, out, err)
    return subprocess.CompletedProcess(words, code, out, err)


FORKING = SimpleNamespace(**vars(subprocess) | {"Popen": Forked})
"""The module `subprocess` with that."""

_STARTING = (starting, machine)


def fork_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the workers and the replays that the tool starts in this process be forked, for the duration of a test."""
    for module in _STARTING:
        monkeypatch.setattr(module, "subprocess", FORKING)


def fork_from_here() -> None:
    """The same in the process of a server, and so in all that it forks."""
    for module in _STARTING:
        vars(module)["subprocess"] = FORKING
