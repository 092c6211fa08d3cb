"""Fixed texts on their way out: as bytes, as a unified diff, into a file."""

from __future__ import annotations

import difflib
import io
import os
import stat
import tempfile
import tokenize
from collections.abc import Iterator

from relax_lint.support.escaping import git_name

NO_NEWLINE = b"\\ No newline at end of file\n"


class WriteError(Exception):
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


def write_atomically(path: str, old: bytes, new: bytes) -> None:
    """Put `new` in the place of `old`, all or nothing; a link stays a link, and the mode what it was.

    Raises WriteError, also where somebody else has changed the file meanwhile.
    """
    target = os.path.realpath(path)
    try:
        with open(target, "rb") as file:
            if file.read() != old:
                raise WriteError(f"{path} was changed while it was being fixed: left as it is")
        mode = stat.S_IMODE(os.stat(target).st_mode)
        descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".relax-lint-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(new)
            os.chmod(temporary, mode)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise WriteError(f"cannot write {path}: {error.strerror}") from None


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
