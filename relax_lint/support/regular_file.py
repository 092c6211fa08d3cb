"""Reading a file that somebody else put there: a pipe, a device or an endless file must not stop the tool,
and a link must not lead it somewhere else.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

_NO_BLOCK = getattr(os, "O_NONBLOCK", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PART = 4096
_UNPLAIN = frozenset({"", os.curdir, os.pardir})
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


class IrregularFileError(OSError):
    """Not a regular file of a bearable size; `strerror` says what it is."""


def read_regular(path: str, limit: int | None, *, beneath: str | None = None) -> bytes:
    """The bytes of a regular file of up to `limit` bytes; with None it is only opened, and nothing is read.

    With `beneath`, a folder, no link below it is followed, neither to the file nor to a folder on the way.
    Raises OSError; IrregularFileError for another kind of file or a larger one.
    """
    # Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
    if beneath is None:
        descriptor = os.open(path, os.O_RDONLY | _NO_BLOCK)
    else:
        folder, name = _opened_folder(path, beneath)
        try:
            descriptor = os.open(name, os.O_RDONLY | _NO_BLOCK | _NO_LINK, dir_fd=folder)
        finally:
            os.close(folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise IrregularFileError(None, f"not a regular file: {_file_type(status.st_mode)}", path)
        if limit is None:
            return b""
        data = _read(descriptor, status.st_size, limit)
    finally:
        os.close(descriptor)
    if data is None:
        raise IrregularFileError(None, f"larger than {_size(limit)}", path)
    return data


def _read(descriptor: int, size: int, limit: int) -> bytes | None:
    """What a file holds; None for more than `limit` bytes. `size` is a guess: a kernel's own file has none,
    nothing to say at times, and no end at others.
    """
    parts: list[bytes] = []
    held = 0
    while held <= limit:
        try:
            part = os.read(descriptor, min(max(size, _PART) + 1, limit + 1 - held))
        except BlockingIOError:
            return None
        if not part:
            return parts[0] if len(parts) == 1 else b"".join(parts)
        parts.append(part)
        held += len(part)
    return None


@contextmanager
def folder_of(path: str, beneath: str) -> Iterator[tuple[int, str]]:
    """The folder of a file below `beneath`, opened without following a link on the way there, and the name
    that the file has in it. Raises OSError.
    """
    descriptor, name = _opened_folder(path, beneath)
    try:
        yield descriptor, name
    finally:
        os.close(descriptor)


def _opened_folder(path: str, beneath: str) -> tuple[int, str]:
    """The same, for who closes it."""
    *folders, name = _inner(path, beneath).split(os.sep)
    if os.pardir in folders or name in (os.pardir, os.curdir):
        raise OSError(errno.EXDEV, f"not inside {beneath}", path)
    descriptor = os.open(beneath, _FOLDER)
    try:
        for folder in folders:
            inside = os.open(folder, _FOLDER | _NO_LINK, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inside
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, name


def _inner(path: str, beneath: str) -> str:
    """The path below a folder, with a `..` in it where there is none."""
    # As a search makes its paths: thousands of them, and the general way costs as much as the reading.
    if beneath == os.curdir and _UNPLAIN.isdisjoint(path.split(os.sep)):
        return path
    head, tail = path[: len(beneath)], path[len(beneath) :]
    if head == beneath and tail[:1] == os.sep and not _UNPLAIN.intersection(tail[1:].split(os.sep)):
        return tail[1:]
    return os.path.relpath(os.path.abspath(path), os.path.abspath(beneath))


def is_inside(path: str, folder: str) -> bool:
    """Whether a path leads to a place in a folder, whatever links there are on the way."""
    root = os.path.realpath(folder)
    return os.path.commonpath([root, os.path.realpath(path)]) == root


def _size(limit: int) -> str:
    return f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit:,} bytes"


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
