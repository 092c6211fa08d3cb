"""Where a command's text goes: the terminal or a file, in colour or not."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relax_lint.output.style import Style

DEBUG = "RELAX_LINT_DEBUG"
"""The environment variable that makes internal errors show where they come from."""


_CLEAR = "\x1b[K"


class UsageError(Exception):
    """A request that cannot be carried out; the text is one line for the user."""


def write(text: str) -> int:
    """Write to standard output. A reader that has gone (`| head`) is no error."""
    # What the terminal's encoding lacks is escaped instead of failing.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Else the interpreter tries to flush once more on its way out, and complains.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def warn(text: str) -> None:
    """Write one line to standard error that does not end the run."""
    from relax_lint.output.style import printable

    sys.stderr.write(f"relax-lint: warning: {printable(text)}\n")


def style(color: str, *, to_file: bool) -> Style:
    """How to write: `color` is auto, always or never."""
    from relax_lint.output.style import Style

    if color != "auto":
        return Style(color == "always")
    dull = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Style(not to_file and not dull and sys.stdout.isatty())


def require_writable(path: str) -> None:
    """Raise UsageError if `path` cannot be written."""
    # Before the work rather than after it; appending keeps what an earlier run left until there is new.
    try:
        with open(path, "a"):
            pass
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def emit(text: str, path: str | None) -> None:
    """Write a report to the file `path`, or to standard output. Raises UsageError."""
    if path is None:
        write(text)
        return
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


@contextmanager
def waiting(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A line on the terminal that says what is being done, gone again at the end; nothing where standard
    error is no terminal.
    """
    shown = not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def tell(words: str) -> None:
        if shown:
            from shutil import get_terminal_size

            from relax_lint.output.style import printable

            width = get_terminal_size().columns - 1
            sys.stderr.write(f"\r{_CLEAR}{printable(words)[:width]}")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        if shown:
            sys.stderr.write(f"\r{_CLEAR}")
            sys.stderr.flush()
