"""The first look at a file: nearly all that a run is given holds no Relax, and is never looked at again.

Imports nothing but the operating system: most runs end here.
"""

from __future__ import annotations

import os
from stat import S_ISREG

from relax_lint.sources.kinds import kind_of
from relax_lint.sources.prefilter import may_contain_relax, test_of

LARGEST = 1 << 16
"""What is larger in bytes is not looked at here, but with all that else is asked of an input."""

# Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
_ENTRY_FLAGS = _FLAGS | getattr(os, "O_NOFOLLOW", 0)

TYPE_CHECKING = False
if TYPE_CHECKING:
    Identity = tuple[int, int]


class Ordinary:
    """An input in which there is no Relax for certain. `path` is the path to show."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path


def ordinary_file(path: str, limit: int) -> Identity | None:
    """The device and the number of a file that somebody named: a regular one of at most `limit` bytes without
    Relax. None for any other one, and for one that cannot be read.
    """
    # Asked by the thousand: of what nearly every name ends in nothing else is asked.
    may_matter = may_contain_relax if path.endswith(".py") else test_of(kind_of(path), named=True)
    if may_matter is None:
        return None
    try:
        file = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(file)
        size = status.st_size
        if size > limit or not S_ISREG(status.st_mode):
            return None
        data = os.read(file, size + 1)
    except OSError:
        return None
    finally:
        os.close(file)
    # A file that grows, and a kernel's own, do not say how long they are.
    if len(data) != size or may_matter(data):
        return None
    return status.st_dev, status.st_ino


def is_ordinary_entry(name: str, folder: int, limit: int) -> bool:
    """The same of an entry that the listing of an open folder calls a regular file. What has taken its place
    since is either no such file or told by its bytes.
    """
    may_matter = may_contain_relax if name.endswith(".py") else test_of(kind_of(name), named=False)
    if may_matter is None:
        return False
    try:
        file = os.open(name, _ENTRY_FLAGS, dir_fd=folder)
    except (OSError, ValueError):
        return False
    try:
        data = os.read(file, limit + 1)
        # Some file systems give less than is there.
        if len(data) > limit or may_matter(data) or os.read(file, 1):
            return False
    except OSError:
        return False
    finally:
        os.close(file)
    return True
