"""Runs with no accessible memory after the last requested byte.

A storage that is overrun by a few bytes does no visible harm on most machines. Under the guard every block
that TVM's runtime obtains on the CPU ends at an inaccessible page, begins after another one, is
never handed out again, and is filled with a byte that the caller chooses. With the naive allocator a block is
a storage's declared size.

The guard is a small C library (`guard.c`) that is compiled with the system's `cc` and loaded with
`LD_PRELOAD`: the process that runs under it is started with `environment()`, and calls `Guard` itself.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from relax_lint.support.lazy_dataclass import dataclass

_SOURCE = Path(__file__).with_name("guard.c")
_PRELOAD = "LD_PRELOAD"
_FAULT = re.compile(
    r"^relax-lint guard: (?P<access>\w+) at byte (?P<at>-?\d+) of (?P<size>\d+)(?P<freed> given back)?$", re.M
)

FILL = 0x7F
"""Makes an element of float32 that was never written 3.4e38, and one of int32 2139062143."""


class GuardUnavailableError(Exception):
    """The guard is unavailable on this machine; the message says why."""


@dataclass(frozen=True)
class Damage:
    """An access outside a block: byte `at`, counted from the first of the block's `size` bytes (so it is
    negative before the block), or a block that was used after it was freed.

    `access` is `read` or `write`, or `access` on machines that do not tell.
    """

    access: str
    at: int
    size: int
    given_back: bool = False

    def __str__(self) -> str:
        if self.given_back:
            return f"{self.access} in a block of {self.size} bytes after it was freed"
        where = "before" if self.at < 0 else "after"
        return f"{self.access} at byte {self.at}, {where} a block of {self.size} bytes"


def environment() -> dict[str, str]:
    """The variables that a process to be guarded is started with, added to those of this process.

    Raises GuardUnavailableError.
    """
    preloaded = os.environ.get(_PRELOAD)
    library = str(_library())
    return {_PRELOAD: f"{library}:{preloaded}" if preloaded else library}


@lru_cache(maxsize=1)
def _library() -> Path:
    """The compiled guard; it is removed when this process ends."""
    if not sys.platform.startswith("linux"):
        raise GuardUnavailableError(f"the guard needs Linux, this is {sys.platform}")
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise GuardUnavailableError("the guard needs a C compiler (`cc`), but none was found")
    folder = tempfile.mkdtemp(prefix="relax-lint-guard-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    library = Path(folder, "guard.so")
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GuardUnavailableError(f"the guard cannot be compiled: {done.stderr.strip()[:200]}")
    return library


def fault_in(log: str) -> Damage | None:
    """The access that killed a guarded process, from what it wrote to standard error."""
    match = _FAULT.search(log)
    if match is None:
        return None
    return Damage(match["access"], int(match["at"]), int(match["size"]), match["freed"] is not None)


class Guard:
    """The guard of this process, which was started with `environment()`.

    Raises GuardUnavailableError where it was not.
    """

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        if not hasattr(self._library, "relax_lint_guard_start"):
            raise GuardUnavailableError("this process was started without the guard")
        for name in ("damaged_size", "damaged_at"):
            getattr(self._library, f"relax_lint_guard_{name}").restype = ctypes.c_int64

    @contextmanager
    def guarding(self, fill: int = FILL) -> Iterator[None]:
        """Guards what TVM allocates inside of the block, filled with the byte `fill`.

        Raises GuardUnavailableError where there is no address space left for it.
        """
        if not self._library.relax_lint_guard_start(ctypes.c_int(fill)):
            raise GuardUnavailableError("no address space is left for the guard")
        try:
            yield
        finally:
            self._library.relax_lint_guard_stop()

    @property
    def damage(self) -> Damage | None:
        """The first write beside a block that the last guarded run made and survived."""
        size = self._library.relax_lint_guard_damaged_size()
        return None if size < 0 else Damage("write", self._library.relax_lint_guard_damaged_at(), size)

    @property
    def left_out(self) -> bool:
        """Whether a block of the last guarded run was too large, or came too late, to be guarded."""
        return bool(self._library.relax_lint_guard_left_out())
