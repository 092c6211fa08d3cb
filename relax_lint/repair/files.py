"""Fixed texts on their way out: as bytes, as a unified diff, into a file."""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import secrets
import stat
import tokenize
from collections.abc import Iterator

from relax_lint.support.errors import UserError
from relax_lint.support.escaping import git_name
from relax_lint.support.regular_file import folder_of, is_inside

_ANYBODY_WRITES = 0o222
NO_NEWLINE = b"\\ No newline at end of file\n"


class WriteError(UserError):
    """A file that could not be written; the text says which and why."""


def encoded(text: str, like: bytes) -> bytes:
    """A text in the encoding, and with the byte order mark, of the file whose bytes were `like`."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(like).readline)
    return text.encode(encoding)


def unified_diff(path: str, old: bytes, new: bytes) -> bytes:
    """What changes in a file, as `git apply` takes it; nothing where nothing does."""
    name = os.path.relpath(path).replace(os.sep, "/")
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        _lines(old),
        _lines(new),
        git_name(f"a/{name}"),
        git_name(f"b/{name}"),
        lineterm=b"\n",
    )
    return b"".join(_ended(lines))


def write_atomically(path: str, old: bytes, new: bytes, *, beneath: str | None = None) -> None:
    """Put `new` in the place of `old`, all or nothing; the file keeps its mode, owner and attributes.

    With `beneath` no link below that folder is followed. Without, a link is, and stays a link, as far as it
    stays in its folder. A file that is read-only, or that has other names (hard links), is left as it is:
    the other names may lie anywhere, and a new file would no longer be the same as theirs.

    Raises WriteError, also where somebody else has changed the file meanwhile.
    """
    try:
        target = path if beneath is not None else _target(path)
        inside = os.path.dirname(target) if beneath is None else beneath
        with folder_of(target, inside) as (folder, name):
            status = _writable(path, folder, name, old)
            _replace(path, folder, name, status, new)
    except OSError as error:
        raise WriteError(f"cannot write {path}: {error.strerror or error}") from None


def _target(path: str) -> str:
    """The file that a named path leads to."""
    target = os.path.realpath(path)
    if os.path.islink(path) and not is_inside(target, os.path.dirname(path) or os.curdir):
        raise WriteError(f"{path} is a link that leaves its folder, to {target}: left as it is")
    return target


def _writable(path: str, folder: int, name: str, old: bytes) -> os.stat_result:
    """What is known of a file that may be replaced. Raises WriteError and OSError."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise WriteError(f"{path} is not a regular file: left as it is")
        if file.read(len(old) + 1) != old:
            raise WriteError(f"{path} was changed while it was being fixed: left as it is")
    # The superuser may write what nobody may: the mode is asked as well.
    if not status.st_mode & _ANYBODY_WRITES or not os.access(name, os.W_OK, dir_fd=folder):
        raise WriteError(f"{path} is read-only: left as it is")
    if status.st_nlink > 1:
        raise WriteError(f"{path} is one of {status.st_nlink} names of a file (hard links): left as it is")
    return status


def _replace(path: str, folder: int, name: str, status: os.stat_result, new: bytes) -> None:
    temporary = f".relax-lint-{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(new)
            file.flush()
            _keep_owner(path, descriptor, status)
            _keep_attributes(name, folder, descriptor)
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
            os.fsync(descriptor)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise


def _keep_owner(path: str, descriptor: int, status: os.stat_result) -> None:
    mine = os.fstat(descriptor)
    if mine.st_uid != status.st_uid:
        try:
            os.fchown(descriptor, status.st_uid, -1)
        except PermissionError:
            raise WriteError(f"{path} belongs to somebody else: left as it is") from None
    if mine.st_gid != status.st_gid:
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, -1, status.st_gid)


def _keep_attributes(name: str, folder: int, descriptor: int) -> None:
    """Copy the extended attributes, access lists among them, where there are such and the system lets us."""
    if not hasattr(os, "listxattr"):
        return
    old = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=folder)
    try:
        with contextlib.suppress(OSError):
            for attribute in os.listxattr(old):
                with contextlib.suppress(OSError):
                    os.setxattr(descriptor, attribute, os.getxattr(old, attribute))
    finally:
        os.close(old)


def _lines(data: bytes) -> list[bytes]:
    """Lines as git counts them: a carriage return ends none."""
    return [line + b"\n" for line in data[:-1].split(b"\n")] if data.endswith(b"\n") else _unended(data)


def _unended(data: bytes) -> list[bytes]:
    *lines, last = data.split(b"\n")
    return [*(line + b"\n" for line in lines), *((last,) if last else ())]


def _ended(lines: Iterator[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield line
        if not line.endswith(b"\n"):
            yield b"\n" + NO_NEWLINE
