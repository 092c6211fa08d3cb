"""One program of Python in a process that has been forked: what an interpreter does before and after it."""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import io
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

REQUEST_BYTES, NUMBER_BYTES = 1 << 17, 32
_MOST_DESCRIPTORS = 4096

_READ_EARLY = ("PYTHON", "LANG", "LC_", "LD_", "DYLD_", "TVM_LIBRARY_PATH", "TVM_HOME")
FREE = ("PYTHONPATH", "PYTHONHASHSEED", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")
"""A fork does what these say; who names no seed for hashes may have any."""

base_path: list[str] = []
"""Where the interpreter itself imports from, without the folder of a program and without `PYTHONPATH`."""

is_forked = False
"""Whether this process has been forked."""

_left: list[Any] = []
"""What the process had before it was forked: what is in its buffers is written by the other one."""


@dataclass(frozen=True)
class Program:
    """What a process is started with; `words` are those of the command, behind the interpreter."""

    words: tuple[str, ...]
    folder: str
    variables: Mapping[str, str]
    session: bool


def understood(words: Sequence[Any]) -> tuple[str, ...] | None:
    """The words behind the interpreter, where a fork can stand for the command: a module or some code."""
    given = tuple(os.fspath(word) for word in words)
    if len(given) < 3 or given[0] != sys.executable or given[1] not in ("-m", "-c"):
        return None
    return given[1:]


def become(program: Program, streams: Sequence[int], tells: int) -> NoReturn:
    """Run a program in this process, which has just been forked, and end with its exit code. Its number is told
    first, when it leads its own group if it is to.
    """
    code = 1
    try:
        if program.session:
            os.setsid()
        os.write(tells, b"%d" % os.getpid())
        _move_in(program, streams)
        code = _run(program)
    except BaseException:
        traceback.print_exc()
    os._exit(code)


def _move_in(program: Program, streams: Sequence[int]) -> None:
    global is_forked
    is_forked = True
    gc.freeze()
    atexit._clear()
    vars(subprocess)["_active"].clear()
    _forget_handlers()
    os.environ.clear()
    os.environ.update(program.variables)
    _take_streams(streams)
    os.chdir(program.folder)
    tempfile.tempdir = None
    sys.dont_write_bytecode = bool(program.variables.get("PYTHONDONTWRITEBYTECODE"))
    named = [path for path in program.variables.get("PYTHONPATH", "").split(os.pathsep) if path]
    first = program.folder if program.words[0] == "-m" else ""
    sys.path[:] = [first, *map(os.path.abspath, named), *base_path]


def _forget_handlers() -> None:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, usual)


def _take_streams(streams: Sequence[int]) -> None:
    # Above the standard ones first: one of them may be another's.
    kept = [os.dup(stream) for stream in streams]
    while any(stream < 3 for stream in kept):
        kept = [os.dup(stream) for stream in kept]
    for number, stream in enumerate(kept):
        os.dup2(stream, number)
    os.closerange(3, _MOST_DESCRIPTORS)
    given = sys.__stdin__, sys.__stdout__, sys.__stderr__
    _left.extend((*given, sys.stdin, sys.stdout, sys.stderr))
    sys.stdin, sys.stdout, sys.stderr = (_opened(number, like) for number, like in enumerate(given))
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]


def _opened(number: int, like: Any) -> io.TextIOWrapper:
    file = open(number, "rb" if number == 0 else "wb", closefd=False)  # noqa: SIM115 (a standard stream)
    by_line = number == 2 or os.isatty(number)
    at_once = number > 0 and bool(os.environ.get("PYTHONUNBUFFERED"))
    return io.TextIOWrapper(
        file, encoding=like.encoding, errors=like.errors, line_buffering=by_line, write_through=at_once
    )


def _run(program: Program) -> int:
    kind, what, *arguments = program.words
    code: Any = 0
    try:
        if kind == "-m":
            sys.argv = [what, *arguments]
            # It stands for the module that the interpreter would load as the first one.
            sys.modules.pop(what, None)
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            sys.argv = ["-c", *arguments]
            main = sys.modules["__main__"].__dict__
            main.clear()
            main.update({"__name__": "__main__", "__builtins__": __builtins__})
            exec(compile(what, "<string>", "exec"), main)
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt as error:
        _show(error)
        _end_as_interrupted()
    except BaseException as error:
        _show(error)
        code = 1
    return _leave(code)


def _show(error: BaseException) -> None:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _end_as_interrupted() -> NoReturn:
    _leave(0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    os._exit(1)


def _leave(code: Any) -> int:
    """What an interpreter does at its end, but for freeing what is loaded."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    ctypes.CDLL(None).fflush(None)
    return (code or 0) & 0xFF


def early(variables: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Those of the variables that are read before a fork."""
    read = (item for item in variables.items() if item[0].startswith(_READ_EARLY) and item[0] not in FREE)
    return tuple(sorted(read))


def load(names: Sequence[str]) -> None:
    """Import what most programs need, and the modules with rules."""
    from importlib.metadata import entry_points

    for name in names:
        importlib.import_module(name)
    for entry in entry_points(group="relax_lint.rules"):
        entry.load()
