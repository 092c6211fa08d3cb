"""Reading a file that somebody else put there: a pipe, a device or an endless file must not stop the tool."""

from __future__ import annotations

import os
import stat


class IrregularFileError(OSError):
    """Not a regular file of a bearable size; `strerror` says what it is."""


def read_regular(path: str, limit: int | None) -> bytes:
    """The bytes of a regular file of up to `limit` bytes; with None it is only opened, and nothing is read.

    Raises OSError; IrregularFileError for another kind of file or a larger one.
    """
    # Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise IrregularFileError(None, f"not a regular file: {_file_type(mode)}", path)
        if limit is None:
            return b""
        data = file.read(limit + 1)
    # A kernel's own file has nothing to say at times, and no end at others.
    if data is None or len(data) > limit:
        raise IrregularFileError(None, f"larger than {limit >> 20} MiB", path)
    return data


def _file_type(mode: int) -> str:
    for test, name in (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    ):
        if test(mode):
            return name
    return "of an unknown type"
