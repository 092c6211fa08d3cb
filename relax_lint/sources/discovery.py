"""From the paths on the command line to inputs: folders are searched, `.gitignore` and excludes respected."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pathspec

from relax_lint.results.location import Location
from relax_lint.sources import models
from relax_lint.sources.patterns import path_patterns
from relax_lint.sources.unit import Problem
from relax_lint.support.regular_file import IrregularFileError, read_regular

MAX_BYTES = 32 << 20
MAX_JSON_BYTES = 512 << 20
_MAX_IGNORE_BYTES = 1 << 20
_TEXTS = {".py": "python", ".pyi": "python", ".json": "json", ".ipynb": "notebook", ".md": "markdown"}
_KINDS = {**_TEXTS, **models.KINDS}
# What a search of folders takes. Everything else is read only when it is named.
_SEARCHED = frozenset({".py", ".json", ".ipynb", ".md"})
_NEVER_ENTERED = frozenset({".git", ".hg", ".svn", "__pycache__", ".venv", "node_modules"})


class UnreadableError(Exception):
    """An input whose bytes cannot be had: the message says why."""


@dataclass(frozen=True)
class Input:
    """One file, or standard input (`source` is None). `path` is the path to show, `named` whether the user
    named the file rather than a folder above it.
    """

    path: str
    kind: str
    source: str | None
    named: bool

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
            return read_regular(self.source, None if is_model else limit)
        except IrregularFileError as error:
            raise UnreadableError(error.strerror) from error
        except OSError as error:
            raise UnreadableError(f"cannot be read: {error.strerror or error}") from error


@dataclass(frozen=True)
class HeldInput(Input):
    """An input whose bytes are at hand already, as they were read or as they are to become."""

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
) -> list[Input | Problem]:
    """The inputs below `paths`, in the order of the arguments and sorted within a folder, each once.

    A file that is named is taken whatever its name or the excludes say; `-` is standard input, shown as
    `stdin_filename`. `exclude` holds patterns in the syntax of `.gitignore`. What cannot be searched is a
    Problem.
    """
    seen: set[tuple[int, int]] = set()
    found: list[Input | Problem] = []
    excluded = path_patterns(exclude)
    for path in paths:
        if path == "-":
            shown = stdin_filename or "<stdin>"
            found.append(Input(shown, _kind(shown), None, named=True))
            continue
        try:
            status = os.stat(path)
        except (OSError, ValueError) as error:
            found.append(_problem(path, getattr(error, "strerror", None) or str(error)))
            continue
        if not stat.S_ISDIR(status.st_mode):
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                found.append(Input(path, _kind(path), path, named=True))
            continue
        search = _Search(Path(path), excluded, respect_gitignore, seen)
        found.extend(search.inputs())
    return found


class _Search:
    """One walk of a folder. `seen` holds the identities of files and folders already met, over all walks."""

    def __init__(
        self,
        root: Path,
        excluded: pathspec.GitIgnoreSpec,
        respect_gitignore: bool,
        seen: set[tuple[int, int]],
    ) -> None:
        self.root = root
        self.excluded = excluded
        self.respect_gitignore = respect_gitignore
        self.seen = seen

    def inputs(self) -> Iterator[Input | Problem]:
        specs = _outer_gitignores(self.root) if self.respect_gitignore else []
        yield from self._folder(self.root, specs)

    def _folder(
        self, folder: Path, specs: list[tuple[Path, pathspec.GitIgnoreSpec]]
    ) -> Iterator[Input | Problem]:
        try:
            identity = os.stat(folder)
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            yield _problem(str(folder), error.strerror or str(error))
            return
        # A symbolic link may lead back to a folder that was searched already.
        if (identity.st_dev, identity.st_ino) in self.seen:
            return
        self.seen.add((identity.st_dev, identity.st_ino))
        if self.respect_gitignore and (spec := _gitignore(folder)) is not None:
            specs = [*specs, (folder.resolve(), spec)]
        for entry in entries:
            path = folder / entry.name
            try:
                status = entry.stat()
            except OSError:
                # A dangling link: nothing to read, and nobody named it.
                continue
            is_folder = stat.S_ISDIR(status.st_mode)
            if self._ignored(path, is_folder, specs):
                continue
            if is_folder:
                if entry.name not in _NEVER_ENTERED:
                    yield from self._folder(path, specs)
                continue
            identity_of_file = (status.st_dev, status.st_ino)
            if not stat.S_ISREG(status.st_mode) or path.suffix not in _SEARCHED:
                continue
            if identity_of_file not in self.seen:
                self.seen.add(identity_of_file)
                yield Input(str(path), _kind(str(path)), str(path), named=False)

    def _ignored(self, path: Path, is_folder: bool, specs: list[tuple[Path, pathspec.GitIgnoreSpec]]) -> bool:
        tail = "/" if is_folder else ""
        if self.excluded.match_file(path.relative_to(self.root).as_posix() + tail):
            return True
        if self.excluded.match_file(path.as_posix().lstrip("/") + tail):
            return True
        place = path.parent.resolve() / path.name
        # The innermost file that says anything decides, as in git.
        for folder, spec in reversed(specs):
            verdict = spec.check_file(place.relative_to(folder).as_posix() + tail).include
            if verdict is not None:
                return verdict
        return False


def _outer_gitignores(root: Path) -> list[tuple[Path, pathspec.GitIgnoreSpec]]:
    """The `.gitignore` files above a folder, up to the root of its repository, outermost first."""
    specs: list[tuple[Path, pathspec.GitIgnoreSpec]] = []
    folder = root.resolve()
    if (folder / ".git").exists():
        return specs
    for parent in folder.parents:
        if (spec := _gitignore(parent)) is not None:
            specs.append((parent, spec))
        if (parent / ".git").exists():
            return specs[::-1]
    return []


def _gitignore(folder: Path) -> pathspec.GitIgnoreSpec | None:
    try:
        data = read_regular(str(folder / ".gitignore"), _MAX_IGNORE_BYTES)
        return path_patterns(data.decode(errors="replace").splitlines())
    except (OSError, ValueError):
        return None


def _kind(path: str) -> str:
    return _KINDS.get(Path(path).suffix.lower(), "python")


def _within(data: bytes, limit: int) -> bytes:
    if len(data) > limit:
        raise UnreadableError(f"larger than {limit >> 20} MiB")
    return data


def _problem(path: str, reason: str) -> Problem:
    return Problem("RLX901", f"cannot be read: {reason}", Location(path, 1, 1, 1, 1))
