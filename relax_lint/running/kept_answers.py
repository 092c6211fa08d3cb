"""What a run printed, kept with all that it depended on: an equal run prints it again before it has loaded
what a run needs. Imports as little as that takes.

An answer is found by the command line, the surroundings and the contents of the named files and of the
configuration; it is used if the tool and the installed packages are as they were. See `docs/speed.md`.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
import time
from contextlib import suppress

from relax_lint.support.regular_file import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

VARIABLES = (
    *("RELAX_LINT_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "RELAX_LINT_DEBUG"),
    *("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM", "GITHUB_ACTIONS"),
)
"""The environment variables that a printed answer may depend on. Links and columns are for terminals:
no answer is kept for these.
"""

KEPT_OPTIONS = frozenset(
    {
        *("select", "ignore", "allocator", "page-size", "max-memory", "assume", "exclude", "lower", "target"),
        *("weights", "dialect", "fail-on", "strict", "exit-zero", "error-on-no-input", "jobs", "sandbox"),
        *("output-format", "statistics", "show-provers", "quiet", "color", "bind", "formulas", "cache-dir"),
    }
)
"""The options with which an answer depends on nothing else; with any other one none is kept."""

KEPT_FORMATS = ("text", "concise", "json")
"""Others tell of the repository around the files, or of the moment."""

_FORM = "relax-lint answer 1"
_MOST_ARGUMENTS = 64
_MOST_FILES = 16
_MOST_FILE_BYTES = 1 << 20
_MOST_BYTES = 1 << 18
_MOST_PLACES = 64
_MOST_ENTRIES = 20_000
_CLOCK_STEP_S = 2.0
_DAY_S = 86_400.0
_TAG, _SIGNATURE = "CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55\n# A cache of relax-lint"
_METADATA = (".dist-info", ".egg-info")
_FOLDER_OPTION = "--cache-dir"
_NUMBERS = struct.Struct("=QQQqq")


class Question:
    """One call of the command, with all that its answer depends on but the installation: `key` stands for it.
    It is None where the answer may depend on something else: a folder is named, say, or standard input.

    `folder` is where its answer is kept: where the call says that results are, or else the usual place.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = tuple(arguments)
        self.text: str | None = None
        """What was printed, where it may be kept."""
        self.folder, self.key = "", None
        try:
            named, others = _named_folder(self._arguments)
            self.folder = default_folder() if named is None else os.path.abspath(named)
            self.key = _key(self._arguments, others)
        except (OSError, ValueError):
            pass

    def answer(self) -> tuple[str, int] | None:
        """What the same call printed before, and its exit code; None if that is not known."""
        if self.key is None:
            return None
        folder = self.folder
        path = _path(folder, self.key)
        try:
            form, code, stamp, places, text = _parts(read_regular(path, _MOST_BYTES, beneath=folder))
            if form != _FORM or code not in ("0", "1", "3") or not is_harmless(text) or not _is_ours(folder):
                return None
            if stamp != _stamp(places)[0]:
                return None
            aged = time.time() - os.lstat(path).st_mtime > _DAY_S
        except (OSError, ValueError):
            return None
        if aged:
            # What is in use is the last to go when the folder is full.
            with suppress(OSError):
                os.utime(path)
        return text, int(code)

    def entry(self, code: int, places: Sequence[str]) -> tuple[str, bytes] | None:
        """The path of the entry for what was printed, and its contents; None where it cannot be kept.
        `places` are the folders of the tool and of the rule packages.
        """
        text = self.text
        if self.key is None or text is None or not is_harmless(text):
            return None
        if any("\n" in place for place in places) or not 0 < len(places) <= _MOST_PLACES:
            return None
        try:
            stamp, latest = _stamp(places)
        except (OSError, ValueError):
            return None
        # A file that was written a moment ago may be written again without another time.
        if latest > time.time() - _CLOCK_STEP_S or Question(self._arguments).key != self.key:
            return None
        data = "\n".join((_FORM, str(code), stamp, *places, "", text)).encode(errors="surrogateescape")
        return (_path(self.folder, self.key), data) if len(data) <= _MOST_BYTES else None


def default_folder() -> str:
    """Where results are kept if nothing else is said: in the user's folder for caches."""
    named = os.environ.get("RELAX_LINT_CACHE_DIR")
    if named:
        return os.path.abspath(named)
    home = os.path.expanduser("~")
    usual = ("Library", "Caches") if sys.platform == "darwin" else (".cache",)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, *usual)
    return os.path.abspath(os.path.join(base, "relax-lint"))


def is_harmless(text: str) -> bool:
    """Whether a text can be printed as it is, whoever wrote it: no control characters, nothing that hides,
    and no line that a CI system carries out.
    """
    plain = text.replace("\n", "")
    return text.isascii() and plain.isprintable() and "::" not in text and "##" not in text


def _named_folder(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """The folder for results that a call names, and its other arguments. Raises ValueError for the option
    without a folder.
    """
    folder: str | None = None
    others: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            others += words
        elif word == _FOLDER_OPTION:
            folder = next(words, "")
        elif word.startswith(f"{_FOLDER_OPTION}="):
            folder = word.partition("=")[2]
        else:
            others.append(word)
    if folder == "":
        raise ValueError("no folder")
    return folder, others


def _key(arguments: Sequence[str], others: Sequence[str]) -> str | None:
    """What stands for a call; `others` are the arguments among which the inputs are."""
    if not _may_be_kept(arguments):
        return None
    parts: list[bytes] = [_FORM.encode()]
    # The import path may hold what is no text, and Python may not know where it is itself.
    texts = (sys.version, sys.platform, repr(sys.executable), os.getcwd(), repr(sys.path), "", *arguments, "")
    parts += (text.encode(errors="surrogateescape") for text in texts)
    parts += (f"{name}={os.environ.get(name)!r}".encode(errors="surrogateescape") for name in VARIABLES)
    for path in _configurations():
        parts += (path.encode(errors="surrogateescape"), _contents(path, _MOST_FILE_BYTES))
    files: list[tuple[int, int]] = []
    for argument in others:
        try:
            status = os.lstat(argument)
        except (OSError, ValueError):
            continue
        # A file with two names is judged once, and two equal files twice.
        if (identity := (status.st_dev, status.st_ino)) in files or len(files) == _MOST_FILES:
            return None
        files.append(identity)
        if not stat.S_ISREG(status.st_mode) or not argument.endswith(".py"):
            return None
        parts += (argument.encode(errors="surrogateescape"), read_regular(argument, _MOST_FILE_BYTES))
    return _digest(parts) if files else None


def _may_be_kept(arguments: Sequence[str]) -> bool:
    """A quick look at the call: most that cannot be answered here are told by it."""
    if not arguments or len(arguments) > _MOST_ARGUMENTS or os.environ.get("RELAX_LINT_DEBUG"):
        return False
    if any(one == "-" or one.startswith("@") for one in arguments):
        return False
    return sys.stdout is not None and not sys.stdout.isatty()


def _configurations() -> Iterator[str]:
    """Every file in which the configuration may be, there or not."""
    here = os.getcwd()
    while True:
        yield os.path.join(here, "pyproject.toml")
        above = os.path.dirname(here)
        if above == here:
            return
        here = above


def _contents(path: str, limit: int) -> bytes:
    try:
        return read_regular(path, limit)
    except FileNotFoundError:
        return b""


def _digest(parts: Iterable[bytes]) -> str:
    # `hashlib` loads a library for this; the module behind it is part of the interpreter.
    from _blake2 import blake2b

    digest = blake2b(digest_size=32)
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


def _path(folder: str, key: str) -> str:
    # Among the results, so that they go together when the folder is full.
    return os.path.join(folder, "v1", key[:2], key[2:])


def _parts(data: bytes) -> tuple[str, str, str, list[str], str]:
    """Form, exit code, stamp, places and text of an entry. Raises ValueError for anything else."""
    head, _, text = data.decode(errors="surrogateescape").partition("\n\n")
    form, code, stamp, *places = head.split("\n")
    if len(places) > _MOST_PLACES:
        raise ValueError("not an entry")
    return form, code, stamp, places, text


def _is_ours(folder: str) -> bool:
    return read_regular(os.path.join(folder, _TAG), 4096, beneath=folder).startswith(_SIGNATURE)


def _stamp(places: Iterable[str]) -> tuple[str, float]:
    """Another text whenever a file of the tool, or of a rule package, or what is installed changes; and when
    the latest of these changes was.
    """
    parts: list[bytes] = []
    latest = 0
    for place in places:
        # An entry may name any place: to look through a whole disk takes for ever.
        for path, status in python_files(place, _MOST_ENTRIES):
            written, changed = status.st_mtime_ns, status.st_ctime_ns
            numbers = _NUMBERS.pack(status.st_dev, status.st_ino, status.st_size, written, changed)
            parts += (path.encode(errors="surrogateescape"), numbers)
            latest = max(latest, written, changed)
    for path, changed in _installed():
        parts += (path.encode(errors="surrogateescape"), _NUMBERS.pack(0, 0, 0, 0, changed))
        latest = max(latest, changed)
    # No path holds a NUL, and the numbers have one length.
    return _digest([b"\0".join(parts)]), latest / 1e9


def _installed() -> Iterator[tuple[str, int]]:
    """The folders that the path leads to, and what declares each distribution in them, with their times."""
    for folder in dict.fromkeys(sys.path):
        try:
            yield folder, os.stat(folder or os.curdir).st_mtime_ns
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue
        for name in sorted(names):
            if name.endswith(_METADATA):
                path = os.path.join(folder, name, "entry_points.txt")
                try:
                    yield path, os.stat(path).st_mtime_ns
                except OSError:
                    yield path, 0


def python_files(place: str, most: int | None = None) -> Iterator[tuple[str, os.stat_result]]:
    """The Python files at or below a place, in an order that is the same everywhere. Raises ValueError where
    there are more than `most` entries.
    """
    if place.endswith(".py"):
        yield place, os.stat(place)
        return
    levels, seen = [_entries(place)], 0
    while levels:
        if (entry := next(levels[-1], None)) is None:
            levels.pop()
            continue
        seen += 1
        if most is not None and seen > most:
            raise ValueError(f"more than {most:,} entries")
        # What an editor leaves may be a link to nothing.
        with suppress(OSError):
            if entry.name.endswith(".py") and entry.is_file():
                yield entry.path, entry.stat()
            elif entry.is_dir():
                levels.append(_entries(entry.path))


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return iter(sorted(found, key=lambda entry: entry.name))
    except OSError:
        return iter(())
