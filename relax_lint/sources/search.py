"""The search of one folder: which files are below it, without those that are ignored.

The tree may be somebody else's. No link is followed, folders may be as deep as the system lets them be, and
the time is that of the number of entries and the lengths of their names, whatever the patterns say.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from relax_lint.results.location import Location
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.sources.patterns import MAX_WILD, Position, path_patterns, patterns_in
from relax_lint.support.lazy_dataclass import record
from relax_lint.support.regular_file import IrregularFileError, read_regular

Identity = tuple[int, int]
"""The device and the number of a file, which all its names have in common."""

LEFT_OUT = frozenset(
    (
        *(
            ".bzr",
            ".direnv",
            ".eggs",
            ".git",
            ".git-rewrite",
            ".hg",
            ".ipynb_checkpoints",
            ".mypy_cache",
            ".nox",
        ),
        *(
            ".pants.d",
            ".pyenv",
            ".pytest_cache",
            ".pytype",
            ".ruff_cache",
            ".svn",
            ".tox",
            ".venv",
            ".vscode",
        ),
        *("__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules"),
        *("site-packages", "venv"),
    )
)
"""The names of folders without the user's own files: a search does not enter them. One that is named is
searched whatever its name is.
"""

_ENVIRONMENT = "pyvenv.cfg"
_IGNORE = ".gitignore"
_MAX_IGNORE_BYTES = 1 << 20
_MAX_IGNORES = 64
"""How many `.gitignore` files may be about one entry."""

_TOO_MANY = (
    "some patterns are not used: those with wildcards that are about one folder may have "
    f"{MAX_WILD:,} characters, in up to {_MAX_IGNORES} files"
)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@record(frozen=True)
class _Entry:
    name: str
    is_folder: bool
    is_link: bool
    identity: Identity


@record(frozen=True)
class _Folder:
    """A folder on the way. `ignores` are its position in each `.gitignore` that counts, the innermost last,
    `excludes` that in the excludes, `room` what further patterns may take.
    """

    path: str
    ignores: tuple[Position, ...]
    excludes: tuple[Position, ...]
    room: int = MAX_WILD

    def is_ignored(self, entry: _Entry) -> bool:
        """Whether a search leaves an entry out. To git a link is a file, wherever it leads."""
        if not (self.excludes or self.ignores):
            return False
        folder = entry.is_folder and not entry.is_link
        excluded = any(each.verdict(entry.name, is_folder=folder) for each in self.excludes)
        return excluded or _ignored_by(self.ignores, entry.name, is_folder=folder)

    def path_of(self, name: str) -> str:
        """The path of an entry, as it is shown."""
        return name if self.path == os.curdir else os.path.join(self.path, name)

    def enter(self, name: str) -> _Folder:
        ignores = tuple(each.enter(name) for each in self.ignores)
        excludes = tuple(each.enter(name) for each in self.excludes)
        return _Folder(self.path_of(name), ignores, excludes, self.room)


class Search:
    """One search of a folder for files with one of the `endings`. `seen` holds the identities of files and
    folders already met, over all searches. Once `files` is through, `links` are the paths of the links that
    would be searched or read if they were none.
    """

    def __init__(
        self,
        root: str,
        exclude: Sequence[str],
        respect_gitignore: bool,
        endings: frozenset[str],
        seen: set[Identity],
    ) -> None:
        self.links: list[str] = []
        from pathlib import Path

        self._root = str(Path(root))
        self._exclude = exclude
        self._excluded = path_patterns(exclude)
        self._respect_gitignore = respect_gitignore
        self._endings = endings
        self._seen = seen
        self._problems: list[Problem] = []

    def files(self) -> Iterator[str | Problem]:
        """The paths of the files, sorted in each folder, and what went wrong."""
        try:
            top = self._top()
        except OSError as error:
            yield _problem(self._root, f"cannot be read: {error.strerror or error}")
            return
        levels = [] if top is None else [self._opened(top, None)]
        yield from self._problems_so_far()
        while levels:
            folder, entries = levels[-1]
            entry = next(entries, None)
            if entry is None:
                levels.pop()
            elif entry.is_link:
                self.links.append(folder.path_of(entry.name))
            elif entry.is_folder:
                levels.append(self._opened(folder.enter(entry.name), entry.identity))
                yield from self._problems_so_far()
            elif entry.identity not in self._seen:
                self._seen.add(entry.identity)
                yield folder.path_of(entry.name)

    def _top(self) -> _Folder | None:
        """The folder that is searched; None if it is ignored, itself or a folder that holds it."""
        parts = [part for part in self._root.split(os.sep) if part not in ("", os.curdir)]
        named = _within(self._excluded.top(), parts)
        if named is None:
            return None
        excludes = (self._excluded.top(), named)[: (2 if parts else 1) if self._exclude else 0]
        top = _Folder(self._root, (), excludes)
        if not self._respect_gitignore:
            return top
        inner = os.path.realpath(self._root)
        outer = _repository(inner)
        here = replace(top, path=outer)
        for name in os.path.relpath(inner, outer).split(os.sep) if inner != outer else ():
            here = self._with_ignores(here)
            if _ignored_by(here.ignores, name, is_folder=True):
                return None
            here = here.enter(name)
        return replace(top, ignores=here.ignores, room=here.room)

    def _opened(self, folder: _Folder, identity: Identity | None) -> tuple[_Folder, Iterator[_Entry]]:
        """A folder with its own `.gitignore`, and what in it is to be searched; nothing of one that is not
        the folder `identity`, or that was searched before.
        """
        try:
            found = _list(folder.path, identity, self._endings)
        except OSError as error:
            self._problems.append(_problem(folder.path, f"cannot be read: {error.strerror or error}"))
            return folder, iter(())
        # A search that is begun further inside may have been here.
        if found.identity in self._seen or (identity is not None and found.is_environment):
            return folder, iter(())
        self._seen.add(found.identity)
        if found.has_ignores and self._respect_gitignore:
            folder = self._with_ignores(folder)
        return folder, (entry for entry in found.entries if not folder.is_ignored(entry))

    def _with_ignores(self, folder: _Folder) -> _Folder:
        """The folder with its own `.gitignore` among those that count."""
        path = folder.path_of(_IGNORE)
        try:
            data = read_regular(path, _MAX_IGNORE_BYTES, beneath=folder.path)
        except IrregularFileError as error:
            if (reason := str(error.strerror)).startswith("larger"):
                self._problems.append(_problem(path, f"not used: {reason}"))
            return folder
        except OSError:
            return folder
        patterns = patterns_in(data, folder.room)
        if patterns.left_out or len(folder.ignores) == _MAX_IGNORES:
            self._problems.append(_problem(path, _TOO_MANY))
        if len(folder.ignores) == _MAX_IGNORES:
            return folder
        room = folder.room - patterns.size
        return replace(folder, ignores=(*folder.ignores, patterns.top()), room=room)

    def _problems_so_far(self) -> list[Problem]:
        found, self._problems = self._problems, []
        return found


@record(frozen=True)
class _Listing:
    identity: Identity
    entries: list[_Entry]
    has_ignores: bool
    is_environment: bool


def _list(path: str, identity: Identity | None, endings: frozenset[str]) -> _Listing:
    """What a folder holds that a search may be about. Raises OSError, also where it is not the folder that it
    was when the folder above was listed.
    """
    # A folder that was named may be a link; what a search comes to is none.
    descriptor = os.open(path, _FOLDER if identity is None else _FOLDER | _NO_LINK)
    try:
        status = os.fstat(descriptor)
        if identity not in (None, (status.st_dev, status.st_ino)):
            raise OSError(errno.EXDEV, "replaced during the search", path)
        entries, names = [], set()
        with os.scandir(descriptor) as listing:
            for each in listing:
                names.add(each.name)
                if (entry := _entry(each, endings)) is not None:
                    entries.append(entry)
    finally:
        os.close(descriptor)
    entries.sort(key=lambda entry: entry.name)
    here = (status.st_dev, status.st_ino)
    return _Listing(here, entries, _IGNORE in names, _ENVIRONMENT in names)


def _entry(found: os.DirEntry[str], endings: frozenset[str]) -> _Entry | None:
    name = found.name
    if name in LEFT_OUT:
        return None
    # What begins with a dot may have no other, and then it has no ending.
    ending = os.path.splitext(name)[1] if name[0] == "." else name[name.rfind(".") :] if "." in name else ""
    wanted = ending in endings
    try:
        is_folder = found.is_dir(follow_symlinks=False)
        if not (is_folder or wanted or found.is_symlink()):
            return None
        if found.is_symlink():
            # What a link leads to is asked only so that it can be said that nobody followed it.
            is_folder = found.is_dir()
            if not is_folder and not (wanted and found.is_file()):
                return None
        elif not is_folder and not found.is_file(follow_symlinks=False):
            return None
        status = found.stat(follow_symlinks=False)
    except OSError:
        return None
    return _Entry(name, is_folder, found.is_symlink(), (status.st_dev, status.st_ino))


def _within(position: Position, names: Iterable[str]) -> Position | None:
    """Where a path leads; None if a folder on the way is ignored."""
    for name in names:
        if position.verdict(name, is_folder=True):
            return None
        position = position.enter(name)
    return position


def _ignored_by(ignores: Sequence[Position], name: str, *, is_folder: bool) -> bool:
    # The innermost file that says anything decides, as in git.
    for each in reversed(ignores):
        verdict = each.verdict(name, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _repository(folder: str) -> str:
    """The root of the repository that a folder is in; the folder itself if it is in none."""
    here = folder
    while not os.path.exists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return folder
        here = above
    return here


def _problem(path: str, reason: str) -> Problem:
    return Problem(ProblemKind.PARSE_ERROR, reason, Location(path, 1, 1, 1, 1))
