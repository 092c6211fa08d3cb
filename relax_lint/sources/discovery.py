"""From the paths on the command line to inputs: folders are searched, `.gitignore` and excludes respected."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import BinaryIO

from relax_lint.results.location import Location
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.sources import models
from relax_lint.sources.search import Identity, Search
from relax_lint.support.errors import UserError
from relax_lint.support.lazy_dataclass import record
from relax_lint.support.regular_file import IrregularFileError, is_inside, read_regular

MAX_BYTES = 32 << 20
MAX_JSON_BYTES = 512 << 20
_LINKS_TOLD = 3
_TEXTS = {".py": "python", ".pyi": "python", ".json": "json", ".ipynb": "notebook", ".md": "markdown"}
_KINDS = {**_TEXTS, **models.KINDS}
# What a search of folders takes. Everything else is read only when it is named.
_SEARCHED = frozenset({".py", ".json", ".ipynb", ".md"})


class UnreadableError(UserError):
    """An input whose bytes cannot be had: the message says why."""


@record(frozen=True)
class Input:
    """One file, or standard input (`source` is None). `path` is the path to show, `named` whether the user
    named the file rather than a folder above it. `beneath` is the folder below which no link to the file is
    followed, None for a file that was named.
    """

    path: str
    kind: str
    source: str | None
    named: bool
    beneath: str | None = field(default=None, kw_only=True)

    def held(self) -> HeldInput:
        """The input together with its bytes. Raises UnreadableError."""
        return HeldInput(self.path, self.kind, self.source, self.named, self.read(), beneath=self.beneath)

    def read(self, stdin: BinaryIO | None = None) -> bytes:
        """The bytes; none of a model, which is read where it is imported. Raises UnreadableError for anything
        but a readable regular file of a bearable size.
        """
        is_model = models.is_model(self.kind)
        limit = MAX_JSON_BYTES if self.kind == "json" else MAX_BYTES
        if self.source is None:
            if is_model:
                raise UnreadableError("a model is read from a file, not from standard input")
            data = (stdin if stdin is not None else sys.stdin.buffer).read(limit + 1)
            return _within(data, limit)
        try:
            return read_regular(self.source, None if is_model else limit, beneath=self.beneath)
        except IrregularFileError as error:
            raise UnreadableError(error.strerror) from error
        except OSError as error:
            raise UnreadableError(f"cannot be read: {error.strerror or error}") from error


@record(frozen=True)
class HeldInput(Input):
    """An input whose bytes are already in memory, as read or as edited."""

    data: bytes

    def read(self, stdin: BinaryIO | None = None) -> bytes:
        """The bytes."""
        return self.data


def discover(
    paths: Sequence[str],
    *,
    exclude: Sequence[str] = (),
    respect_gitignore: bool = True,
    stdin_filename: str | None = None,
    follow_links: bool = True,
    tell: Callable[[str], None] | None = None,
) -> list[Input | Problem]:
    """The inputs below `paths`, in the order of the arguments and sorted within a folder, each once.

    A file that is named is taken whatever its name or the excludes say; `-` is standard input, shown as
    `stdin_filename`. `exclude` holds patterns in the syntax of `.gitignore`. What cannot be searched is a
    Problem. A link that a search finds counts where it leads to a file in one of the folders that were named;
    `tell` hears of those that lead elsewhere. Without `follow_links` none counts, named or not.
    """
    finder = _Finder(exclude, respect_gitignore, follow_links)
    found = [one for path in paths for one in finder.at(path, stdin_filename)]
    found += finder.linked()
    if finder.leaving and tell is not None:
        told = ", ".join(f"`{path}`" for path in finder.leaving[:_LINKS_TOLD])
        more = len(finder.leaving) - _LINKS_TOLD
        told += f" and {more} more" if more > 0 else ""
        tell(f"links that leave the named folders are not followed: {told}")
    return found


class _Finder:
    """The inputs that the paths of one run name. `leaving` are links that are not followed."""

    def __init__(self, exclude: Sequence[str], respect_gitignore: bool, follow_links: bool) -> None:
        self.leaving: list[str] = []
        self._exclude = exclude
        self._respect_gitignore = respect_gitignore
        self._follow_links = follow_links
        self._seen: set[Identity] = set()
        self._roots: list[str] = []
        self._links: list[str] = []

    def at(self, path: str, stdin_filename: str | None) -> Iterator[Input | Problem]:
        """The inputs at one path of the command line, links apart."""
        if path == "-":
            shown = stdin_filename or "<stdin>"
            yield Input(shown, _kind(shown), None, named=True)
            return
        try:
            status = os.stat(path)
            link = not self._follow_links and _has_link(path)
        except (OSError, ValueError) as error:
            yield _problem(path, getattr(error, "strerror", None) or str(error))
            return
        if link:
            yield _problem(path, "a link, and links are not followed")
        elif stat.S_ISDIR(status.st_mode):
            self._roots.append(path)
            search = Search(path, self._exclude, self._respect_gitignore, frozenset(_SEARCHED), self._seen)
            yield from (
                one if isinstance(one, Problem) else Input(one, _kind(one), one, named=False, beneath=path)
                for one in search.files()
            )
            self._links += search.links
        elif (status.st_dev, status.st_ino) not in self._seen:
            self._seen.add((status.st_dev, status.st_ino))
            yield Input(path, _kind(path), path, named=True, beneath=self._base(path))

    def linked(self) -> Iterator[Input]:
        """The targets of links that were not found at their own location."""
        for link in self._links:
            try:
                status = os.stat(link)
            except OSError:
                # A dangling link: nothing to read, and nobody named it.
                continue
            target = os.path.realpath(link)
            root = next((root for root in self._roots if is_inside(target, root)), None)
            if root is None or not self._follow_links:
                self.leaving.append(link)
            elif stat.S_ISREG(status.st_mode) and (status.st_dev, status.st_ino) not in self._seen:
                self._seen.add((status.st_dev, status.st_ino))
                beneath = os.path.realpath(root)
                yield Input(link, _kind(link), target, named=False, beneath=beneath)

    def _base(self, path: str) -> str | None:
        """What the links on the way to a named file must not leave."""
        if self._follow_links:
            return None
        return "." if _is_below_here(path) else os.path.dirname(path) or "."


def _has_link(path: str) -> bool:
    """Whether a path is a link or, where it is one below the working directory, leads through one."""
    parts = _parts(path) if _is_below_here(path) else [path]
    return any(os.path.islink(os.path.join(*parts[: count + 1])) for count in range(len(parts)))


def _is_below_here(path: str) -> bool:
    return not os.path.isabs(path) and os.pardir not in _parts(path)


def _parts(path: str) -> list[str]:
    return [part for part in path.split(os.sep) if part not in ("", os.curdir)]


def _kind(path: str) -> str:
    if path.endswith(".py"):
        return "python"
    return _KINDS.get(os.path.splitext(path)[1].lower(), "python")


def _within(data: bytes, limit: int) -> bytes:
    if len(data) > limit:
        raise UnreadableError(f"larger than {limit >> 20} MiB")
    return data


def _problem(path: str, reason: str) -> Problem:
    return Problem(ProblemKind.PARSE_ERROR, f"cannot be read: {reason}", Location(path, 1, 1, 1, 1))
