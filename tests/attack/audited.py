"""The work on one input as a worker does it, watched by Python's audit hooks: what the worker was asked to do
besides, whoever asked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from relax_lint.running.file_task import analyse as analyse_plainly
from relax_lint.running.messages import FileData
from relax_lint.settings.config import Config

FUNCTION = f"{__name__}:analyse"
EVENTS = "Events"

_HARMLESS = """
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.match_cast(x, R.Tensor(("n",), "float32"))
        return R.add(x, y)
"""
# Whatever starts with one of these leaves the process, or changes something outside of it.
_OUTSIDE = (
    *(
        "os.",
        "subprocess.",
        "shutil.",
        "socket.",
        "pty.",
        "ctypes.",
        "urllib.",
        "http.",
        "ftplib.",
        "smtplib.",
    ),
    *("builtins.input", "builtins.breakpoint", "webbrowser.", "tempfile.", "sys.settrace", "sys.setprofile"),
    *("pickle.", "sqlite3.", "glob.", "fcntl.", "signal.", "mmap."),
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_IMPORTED_FROM = (sys.prefix, *(path for path in sys.path if path))
# What TVM's parser calls the code that it makes of a text, and what a text has for a file without it.
_EVALUATED = ("<ast>", "<string>", "<environment>")
_PARSER = ("/tvm/script/", "/tvm/relax/script/", "/tvm/tirx/script/", "/relax_lint/sources/", "/typing.py")

_events: list[str] | None = None
_installed = False


def analyse(file: FileData, config: Config, first: int) -> Iterator[Any]:
    """The answers of `relax_lint.running.file_task.analyse`, then `["Events", [...]]`."""
    global _events
    _warm_up(config)
    _events = []
    try:
        yield from analyse_plainly(file, config, first)
    finally:
        found, _events = _events, None
    yield [EVENTS, found]


def _warm_up(config: Config) -> None:
    """Load what is loaded when it is first needed, then begin to listen."""
    global _installed
    if not _installed:
        list(analyse_plainly(FileData(_HARMLESS.encode(), "a.py", "python", True), config, 0))
        sys.addaudithook(_hear)
        _installed = True


def _is_called_by_the_parser() -> bool:
    frame = sys._getframe(2)
    for _ in range(3):
        if frame.f_code.co_filename.replace("\\", "/").endswith("<frozen importlib._bootstrap>"):
            return False
        if any(part in frame.f_code.co_filename.replace("\\", "/") for part in _PARSER):
            return True
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return False


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if _events is None:
        return
    if event == "open":
        path, mode, flags = arguments
        writes = bool(flags & _WRITING) if isinstance(flags, int) else any(c in str(mode) for c in "wax+")
        # Python looks for the file of a text that has none.
        if path and (writes or not str(path).endswith((".py", ".pyc", ".md", ".so"))):
            _events.append(f"open {path!r} {mode!r}")
    elif event in ("os.listdir", "os.scandir") and str(arguments[0]).startswith(_IMPORTED_FROM):
        # Python looks for a module that is imported late.
        return
    elif event == "compile" and str(arguments[1]) in _EVALUATED:
        if arguments[0] is None or _is_called_by_the_parser():
            _events.append(f"compile {arguments!r}"[:200])
    elif event.startswith(_OUTSIDE):
        _events.append(f"{event} {arguments!r}"[:200])
    elif event == "import" and str(arguments[0]).startswith("attack"):
        _events.append(f"import {arguments[0]}")
