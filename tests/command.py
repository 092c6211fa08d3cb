"""The command in the process of a test, for what asks what it says and writes: it is loaded once, and its workers are kept.

What is proved of a process (how a shell sees it end, signals, pipes, locales, what it loads) starts one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper
from pathlib import Path

from relax_lint.cli import main

_ARE_READ_BEFORE = ("PYTHON", "LANG", "LC_")
"""How the names of variables begin that Python reads when it starts."""


def command(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    input: bytes = b"",
    encoding: str = "utf-8",
) -> subprocess.CompletedProcess[bytes]:
    """What `relax-lint` with these arguments does in a folder. `environment` is all of it, that of the test
    without it; `encoding` is that of the standard streams.
    """
    variables = dict(os.environ if environment is None else environment)
    for name in {*variables.items()} ^ {*os.environ.items()}:
        assert not name[0].startswith(_ARE_READ_BEFORE), f"{name[0]} needs a process"
    streams = given, out, err = _Piped(input), _Piped(), _Piped()
    with given, out, err:
        with _surroundings(folder, variables), _streams(encoding, *streams):
            try:
                code = main([*arguments])
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def said(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    input: str = "",
) -> subprocess.CompletedProcess[str]:
    """As `command`, with texts."""
    done = command(folder, *arguments, environment=environment, input=input.encode())
    return subprocess.CompletedProcess(done.args, done.returncode, _text(done.stdout), _text(done.stderr))


def _text(data: bytes) -> str:
    # As `subprocess` reads it.
    return TextIOWrapper(BytesIO(data), encoding="utf-8").read()


class _Piped(BytesIO):
    """Bytes in memory that are a pipe to those who ask what they are."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__(data)
        self._pipe = os.pipe()

    def fileno(self) -> int:
        return self._pipe[1]

    def close(self) -> None:
        if not self.closed:
            for end in self._pipe:
                os.close(end)
        super().close()


@contextmanager
def _surroundings(folder: Path, variables: Mapping[str, str]) -> Iterator[None]:
    before, here = dict(os.environ), os.getcwd()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        os.chdir(here)


@contextmanager
def _streams(encoding: str, *streams: BytesIO) -> Iterator[None]:
    before = sys.stdin, sys.stdout, sys.stderr
    opened = [TextIOWrapper(stream, encoding=encoding) for stream in streams]
    opened[2].reconfigure(errors="backslashreplace")
    sys.stdin, sys.stdout, sys.stderr = opened
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for stream in opened:
            # It would close what is still to be read; what it holds is written first.
            stream.detach()
