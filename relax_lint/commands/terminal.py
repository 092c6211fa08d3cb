"""Where a command's text goes: the terminal or a file, in colour or not. A stream that is closed or full is
told in one line, where there is a stream left to tell it on.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress

from relax_lint.support.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

    from relax_lint.output.style import Style

DEBUG = "RELAX_LINT_DEBUG"
"""The environment variable that makes internal errors show where they come from."""

ERROR = 2
"""The exit code of a usage or internal error."""

INTERRUPTED = 130
"""The exit code after Ctrl-C, as a shell tells of a program that SIGINT has ended."""

_CLEAR = "\x1b[K"
_told: list[None] = []


class UsageError(UserError):
    """A request that cannot be carried out; the text is one line for the user."""


class ReaderGoneError(Exception):
    """Nobody reads standard output any more, as in `| head`: nothing is left to do, and nobody to tell."""


def hold_streams() -> None:
    """Keep the descriptors 0 to 2 for the standard streams, also where one of them was closed: else the next
    file that is opened gets its number, and what a library prints ends up in that file.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def write(text: str) -> int:
    """Write to standard output; 0, the exit code of success. Raises UsageError and ReaderGoneError."""
    with _standard_output() as stream:
        # What the terminal's encoding lacks is escaped instead of failing.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[attr-defined]
        stream.write(text)
    return 0


def write_bytes(data: bytes) -> None:
    """Write to standard output as it is. Raises UsageError and ReaderGoneError."""
    with _standard_output() as stream:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()


@contextmanager
def _standard_output() -> Iterator[TextIO]:
    require_standard_output()
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up(sys.stdout)
        raise ReaderGoneError from None
    except OSError as error:
        _give_up(sys.stdout)
        raise UsageError(f"cannot write to standard output: {error.strerror}") from None


def require_standard_output() -> None:
    """Raise UsageError if standard output is closed."""
    # Python has no stream for a descriptor that was closed when it started.
    if sys.stdout is None:
        raise UsageError("cannot write to standard output: it is closed")


def require_standard_input() -> None:
    """Raise UsageError if standard input is closed."""
    if sys.stdin is None:
        raise UsageError("cannot read standard input: it is closed")


def _give_up(stream: TextIO) -> None:
    """What the stream still holds goes nowhere: else the interpreter tries once more on its way out, and
    complains.
    """
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def tell(line: str) -> None:
    """One line, which may hold untrusted text, on standard error."""
    from relax_lint.support.escaping import printable, without_commands

    tell_all(without_commands(f"{printable(line)}\n"))


def complain(message: str) -> int:
    """Write one line to standard error; the exit code of a usage or internal error."""
    line = " ".join(message.split())
    tell(f"relax-lint: error: {line}")
    return ERROR


def times_told() -> int:
    """How often something was written to standard error."""
    return len(_told)


def tell_all(text: str) -> None:
    """Text that is safe to show on standard error; nothing where that is closed or cannot be written."""
    _told.append(None)
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)


def warn(text: str) -> None:
    """One line on standard error about what does not end the run."""
    tell(f"relax-lint: warning: {text}")


def style(color: str, *, to_file: bool) -> Style:
    """How to write: `color` is auto, always or never."""
    from relax_lint.output.style import Style

    on_terminal = not to_file and is_terminal(sys.stdout)
    painted = _is_painted(on_terminal, to_file) if color == "auto" else color == "always"
    if not on_terminal:
        return Style(painted)
    from relax_lint.commands.surroundings import shows_links, terminal_width

    return Style(painted, terminal_width(), painted and shows_links())


def _is_painted(on_terminal: bool, to_file: bool) -> bool:
    """What the environment asks for, as https://no-color.org and https://bixense.com/clicolors say."""
    if os.environ.get("NO_COLOR"):
        return False
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        if os.environ.get(name):
            return os.environ[name] != "0" and not to_file
    return on_terminal and os.environ.get("CLICOLOR") != "0" and os.environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is open and a terminal."""
    return stream is not None and stream.isatty()


def require_writable(path: str | None) -> None:
    """Raise UsageError if the file `path`, or with None standard output, cannot be written."""
    if path is None:
        require_standard_output()
        return
    # Before the work rather than after it; appending keeps what an earlier run left until there is new.
    try:
        with open(path, "a"):
            pass
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def require_working_directory() -> None:
    """Raise UsageError where the folder that the command runs in has been deleted."""
    try:
        os.getcwd()
    except OSError as error:
        raise UsageError(f"the working directory cannot be used: {error.strerror}") from None


def emit(text: str, path: str | None) -> None:
    """Write a report to the file `path`, or to standard output. Raises UsageError and ReaderGoneError."""
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
    shown = not quiet and is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"

    def show(words: str) -> None:
        if shown:
            from shutil import get_terminal_size

            from relax_lint.support.escaping import printable

            width = get_terminal_size().columns - 1
            tell_all(f"\r{_CLEAR}{printable(words)[:width]}")

    try:
        yield show
    finally:
        if shown:
            tell_all(f"\r{_CLEAR}")
