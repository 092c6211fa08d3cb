"""Limits of a worker that the kernel keeps: sizes, files, memory, and what others may see of the process."""

from __future__ import annotations

import os
import resource
import struct

from relax_lint.running.sandbox.syscalls import numbers, pointer, prctl, system_call

_MAX_FILE_BYTES = 64 << 20
_MAX_OPEN_FILES = 128
_PR_SET_DUMPABLE = 4
_CAPABILITIES_VERSION = 0x20080522
_READ_AND_SEARCH = 1 << 2  # CAP_DAC_READ_SEARCH


def limit_resources(memory_bytes: int) -> None:
    """Limit files, core dumps and, unless `memory_bytes` is 0, the address space.

    There is no limit on processes: it would count everything that the user runs, and the filter of system
    calls lets none begin.
    """
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, _MAX_FILE_BYTES)
    _lower(resource.RLIMIT_NOFILE, _MAX_OPEN_FILES)
    if memory_bytes:
        _lower(resource.RLIMIT_AS, memory_bytes)


def hide() -> None:
    """Keep other processes of the user from looking into this one through `/proc` or a debugger (Linux)."""
    prctl(_PR_SET_DUMPABLE, 0)


def give_up_privileges() -> None:
    """As root: keep of root's rights only that to read what others own. Raises OSError."""
    if os.geteuid() != 0:
        return
    kept = _READ_AND_SEARCH
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    # The rights in effect, allowed and inherited: first the lower 32 of each, then the upper.
    data = struct.pack("=6I", kept, kept, 0, 0, 0, 0)
    system_call(numbers(os.uname().machine)["capset"], pointer(header), pointer(data))


def _lower(kind: int, limit: int) -> None:
    _, hard = resource.getrlimit(kind)
    ceiling = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    try:
        resource.setrlimit(kind, (ceiling, ceiling))
    except (OSError, ValueError):
        # macOS offers no limit on the address space: the time limit is then the only one.
        return
