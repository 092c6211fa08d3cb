"""What a worker says and leaves behind once somebody else's code runs in it."""

from __future__ import annotations

import fcntl
import os
import stat
import sys
import time
from collections.abc import Iterator


def say(text: str) -> Iterator[None]:
    """Write to the pool past all that would have been in the way."""
    os.write(_answers(), text.encode())
    time.sleep(0.2)
    yield None


def build_a_tower(floors: int) -> Iterator[int]:
    """Leave folders in folders, deeper than anybody can recurse."""
    here = os.open(".", os.O_RDONLY)
    os.mkdir("aside")
    for _ in range(floors):
        os.mkdir("floor", dir_fd=here)
        above, here = here, os.open("floor", os.O_RDONLY, dir_fd=here)
        os.close(above)
    yield floors


def lock_a_folder() -> Iterator[list[str]]:
    """Leave files in folders that cannot be listed, or not be written."""
    for name, mode in (("unlisted", 0o300), ("unwritten", 0o500)):
        os.makedirs(f"{name}/inner")
        with open(f"{name}/inner/file", "w") as file:
            file.write("x")
        if sys.platform == "linux":
            os.mkdir(f"{name}/shut", mode)
    yield sorted(os.listdir("."))


def _answers() -> int:
    for descriptor in range(3, 64):
        try:
            status = os.fstat(descriptor)
        except OSError:
            continue
        writes = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
        if stat.S_ISFIFO(status.st_mode) and writes:
            return descriptor
    raise AssertionError("there is no pipe to the pool")
