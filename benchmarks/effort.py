"""What a piece of work costs in a number that other load on the machine hardly changes: instructions of this
process in user mode where the kernel counts them (Linux, `perf_event_open`), else nanoseconds of processor
time.
"""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

_SYSCALLS = {"x86_64": 298, "aarch64": 241}
_HARDWARE, _INSTRUCTIONS = 0, 1
_ATTRIBUTES = struct.Struct("=IIQQQQQ72x")
_EXCLUDE_KERNEL_AND_HYPERVISOR = 1 << 5 | 1 << 6


def _counter() -> int | None:
    """A file that gives the instructions of this thread; None where there is none."""
    number = _SYSCALLS.get(platform.machine())
    if sys.platform != "linux" or number is None:
        return None
    size = _ATTRIBUTES.size
    attributes = _ATTRIBUTES.pack(_HARDWARE, size, _INSTRUCTIONS, 0, 0, 0, _EXCLUDE_KERNEL_AND_HYPERVISOR)
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
