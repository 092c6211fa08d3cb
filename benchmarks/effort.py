"""What a piece of work costs in a number that other load on the machine hardly changes: instructions in user
mode of this thread, or of whole processes that are started, where the kernel counts them (Linux,
`perf_event_open`), else nanoseconds of processor time.
"""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import resource
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

_SYSCALLS = {"x86_64": 298, "aarch64": 241}
_HARDWARE, _INSTRUCTIONS = 0, 1
_ATTRIBUTES = struct.Struct("=IIQQQQQ72x")
_EXCLUDE_KERNEL_AND_HYPERVISOR = 1 << 5 | 1 << 6
_INHERIT = 1 << 1


def _counter(*, with_children: bool = False) -> int | None:
    """A file that gives the instructions of this thread, on request with those of the processes that it
    starts from now on and that have ended; None where there is none.
    """
    number = _SYSCALLS.get(platform.machine())
    if sys.platform != "linux" or number is None:
        return None
    size = _ATTRIBUTES.size
    flags = _EXCLUDE_KERNEL_AND_HYPERVISOR | (_INHERIT if with_children else 0)
    attributes = _ATTRIBUTES.pack(_HARDWARE, size, _INSTRUCTIONS, 0, 0, 0, flags)
    call = ctypes.CDLL(None, use_errno=True).syscall
    file = int(call(number, ctypes.create_string_buffer(attributes, size), 0, -1, -1, 0))
    return None if file < 0 else file


_FILE = _counter()
UNIT = "ns of processor time" if _FILE is None else "instructions"
COUNTS_INSTRUCTIONS = _FILE is not None


def now() -> int:
    """The effort of this process until now."""
    if _FILE is None:
        return time.process_time_ns()
    return int.from_bytes(os.read(_FILE, 8), sys.byteorder)


def effort(work: Callable[[], Any], runs: int = 1) -> int:
    """The least effort of some runs, without the collector's search of what is there already."""
    least = None
    for _ in range(runs):
        gc.collect()
        gc.freeze()
        begin = now()
        work()
        taken = now() - begin
        least = taken if least is None else min(least, taken)
    assert least is not None
    return least


def steady_effort(work: Callable[[], Any]) -> int:
    """The effort where small differences count: instructions, else the calls of functions, built-in ones
    among them, which other load does not change. What one call does with much data they do not tell.
    """
    return effort(work) if COUNTS_INSTRUCTIONS else _calls(work)


STEADY_UNIT = "instructions" if COUNTS_INSTRUCTIONS else "calls of functions"


def _calls(work: Callable[[], Any]) -> int:
    count = 0

    def seen(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def process_effort(command: Sequence[str], folder: str, runs: int = 3, codes: Sequence[int] = (0, 1)) -> int:
    """The least effort of some runs of a command in a folder, with the processes that it starts. Modules are
    compiled once, as they are where the tool is installed.
    """
    least = None
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(runs):
        begin, file = _children_ns(), _counter(with_children=True)
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, env=surroundings
        )
        taken = _children_ns() - begin
        if file is not None:
            taken = int.from_bytes(os.read(file, 8), sys.byteorder)
            os.close(file)
        if done.returncode not in codes:
            raise SystemExit(f"{' '.join(command)[:200]} failed: {done.stderr[-500:]}")
        least = taken if least is None else min(least, taken)
    assert least is not None
    return least


def _children_ns() -> int:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int(1e9 * (used.ru_utime + used.ru_stime))
