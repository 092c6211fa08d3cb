"""What runs inside a worker process. See `relax_lint.running.pool` for the other end."""

from __future__ import annotations

import ctypes
import errno
import gc
import importlib
import json
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from relax_lint.running.sandbox.entering import Wanted, enter
from relax_lint.running.sandbox.gaps import REQUIRE
from relax_lint.running.sandbox.limits import limit_resources
from relax_lint.support.gc_pause import COLLECTED_AFTER
from relax_lint.support.lazy_dataclass import dataclass

_TRACEBACK_FRAMES = 40
_MESSAGE_CHARACTERS = 2000
_PR_SET_PDEATHSIG = 1
# A C++ exception's, and the dynamic loader's.
_SIGNS_OF_SHORTAGE = ("std::bad_alloc", "Cannot allocate memory", "cannot allocate memory")


@dataclass(frozen=True)
class Settings:
    """What a worker is started with: the parent's process id, the time limit for an item in seconds, the
    memory limit in bytes (0: none), and how it is confined, as `Wanted` says.
    """

    parent: int
    time_limit_s: float
    memory_limit: int
    mode: str
    temporary: str
    folders: tuple[str, ...]
    trusted_paths: tuple[str, ...]
    packages: tuple[str, ...]
    executable: bool

    @property
    def wanted(self) -> Wanted:
        """How the process is to be confined."""
        return Wanted(
            self.mode, self.temporary, self.folders, self.trusted_paths, self.packages, self.executable
        )


def main() -> None:
    """Answer requests until standard input ends. Arguments: the settings (see `Settings`) as JSON, then the
    import path.
    """
    # Trees, modules and facts are freed by their counts, and what TVM and sympy make while they are loaded
    # stays. Cycles are looked for seldom, but they are.
    gc.set_threshold(COLLECTED_AFTER, 10, 10)
    settings = Settings(**json.loads(sys.argv[1]))
    del sys.argv[1:]
    _end_with_parent(settings.parent)
    limit_resources(settings.memory_limit)
    requests, answers = _take_over_streams()
    gaps = enter(settings.wanted)
    _write(answers, "sandbox", gaps)
    if gaps and settings.mode == REQUIRE:
        os._exit(1)
    # A parent that dies while a task runs on a system without parent-death signals: the kernel ends us.
    backstop_s = 2 * settings.time_limit_s + 5
    while request := _read_request(requests):
        os.ftruncate(2, 0)
        signal.setitimer(signal.ITIMER_REAL, backstop_s)
        exhausted = _answer(request, answers, backstop_s)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if exhausted:
            # Nothing that is left in memory can be trusted to work.
            os._exit(1)
    # At the end of input there is nothing to save: leave without the interpreter's and TVM's own clean-up.
    os._exit(0)


def _answer(request: bytes, answers: IO[bytes], backstop_s: float) -> bool:
    """Run one request; True when the process ran out of memory."""
    try:
        name, arguments = pickle.loads(request)
        for value in _resolve(name)(*arguments):
            _write(answers, "item", value)
            signal.setitimer(signal.ITIMER_REAL, backstop_s)
    except BaseException as error:  # SystemExit too: TVM's parser is known to raise it
        message = _describe(error)
        out_of_memory = any(map(_is_shortage, _with_causes(error)))
        frames = traceback.format_exception(type(error), error, error.__traceback__, limit=-_TRACEBACK_FRAMES)
        _write(answers, "exception", (out_of_memory, message, "".join(frames).splitlines()))
        return out_of_memory
    _write(answers, "finished", None)
    return False


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """An exception, then what it was raised from or while handling."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__  # type: ignore[assignment]


def _is_shortage(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    message = _describe(error)
    return any(sign in message for sign in _SIGNS_OF_SHORTAGE)


def _resolve(name: str) -> Callable[..., Iterable[Any]]:
    module, _, function = name.partition(":")
    resolved: Callable[..., Iterable[Any]] = getattr(importlib.import_module(module), function)
    return resolved


def _describe(error: BaseException) -> str:
    try:
        text = str(error).strip()
    except Exception:
        text = ""
    kind = type(error).__name__
    return f"{kind}: {text[:_MESSAGE_CHARACTERS]}" if text else kind


def _read_request(requests: IO[bytes]) -> bytes:
    size = requests.read(8)
    return requests.read(int.from_bytes(size, "little")) if len(size) == 8 else b""


def _write(answers: IO[bytes], word: str, value: Any) -> None:
    answers.write(json.dumps([word, value], separators=(",", ":")).encode("ascii") + b"\n")
    answers.flush()


def _take_over_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Move the connection away from descriptors 0 and 1, so that what TVM prints goes to the log with 2."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def _end_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if os.getppid() != parent:
            os._exit(1)
