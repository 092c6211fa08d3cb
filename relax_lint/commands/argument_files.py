"""Arguments from files: `@FILE` stands for the lines of FILE, each an argument."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from relax_lint.commands.terminal import UsageError
from relax_lint.support.regular_file import read_regular

_MAX_BYTES = 16 << 20


def with_argument_files(arguments: Sequence[str]) -> list[str]:
    """The arguments with the lines of each named file in its place; files do not name further files. What
    exists under the name `@FILE` itself is a path like any other: a hook passes the names of files that
    somebody else chose, and those must not become options. Raises UsageError.
    """
    return [word for argument in arguments for word in _words(argument)]


def _words(argument: str) -> Iterator[str]:
    if not argument.startswith("@") or os.path.lexists(argument):
        yield argument
        return
    path = argument[1:]
    try:
        text = os.fsdecode(read_regular(path, _MAX_BYTES))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read arguments from `{path}`: {why}") from None
    # A name may hold what Python, but no file of lines, takes for the end of one.
    yield from (line for line in text.replace("\r\n", "\n").split("\n") if line)
