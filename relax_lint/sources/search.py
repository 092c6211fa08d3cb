"""The search of one folder: which files are below it, without those that are ignored.

The tree may be somebody else's. No link is followed, folders may be as deep as the system lets them be, and
the time is that of the number of entries and the lengths of their names, whatever the patterns say.
"""

from __future__ import annotations

import errno
import os

from relax_lint.sources.kinds import IN_FOLDERS
from relax_lint.sources.ordinary import Ordinary, is_ordinary_entry
from relax_lint.support.regular_file import IrregularFileError, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from relax_lint.results.problem import Problem
    from relax_lint.sources.inputs import Input
    from relax_lint.sources.ordinary import Identity
    from relax_lint.sources.patterns import Position

    Entry = tuple[str, int, Identity]
    """A name in a folder, what it is, and which file or folder."""

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

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)

_A_FILE, _ORDINARY, _A_FOLDER, _A_LINK = range(4)
"""What an entry is; to git a link is a file, wherever it leads."""


class _Folder:
    """A folder on the way. `ignores` are its position in each `.gitignore` that counts, the innermost last,
    `excludes` that in the excludes, `room` what further patterns may take (None: nothing is taken yet).
    """

    __slots__ = ("excludes", "ignores", "path", "room")

    def __init__(
        self,
        path: str,
        ignores: tuple[Position, ...],
        excludes: tuple[Position, ...],
        room: int | None = None,
    ) -> None:
        self.path = path
        self.ignores = ignores
        self.excludes = excludes
        self.room = room

    def ignores_entry(self, name: str, *, is_folder: bool) -> bool:
        """Whether a search leaves an entry out."""
        excluded = any(each.verdict(name, is_folder=is_folder) for each in self.excludes)
        return excluded or _ignored_by(self.ignores, name, is_folder=is_folder)

    def path_of(self, name: str) -> str:
        """The path of an entry, as it is shown."""
        return name if self.path == os.curdir else os.path.join(self.path, name)

    def enter(self, name: str) -> _Folder:
        ignores = tuple(each.enter(name) for each in self.ignores)
        excludes = tuple(each.enter(name) for each in self.excludes)
        return _Folder(self.path_of(name), ignores, excludes, self.room)


class Search:
    """One search of a folder for files. `seen` holds the identities of files and folders already met, over
    all searches. A text of at most `limit` bytes is looked into, none with None. Once `files` is through,
    `links` are the paths of the links that would be searched or read if they were none, and `left_out` those
    of the folders that were not entered because of their names. What is in a tree that is not `trusted` does
    not tell what is searched in it.
    """

    def __init__(
        self,
        root: str,
        exclude: Sequence[str],
        respect_gitignore: bool,
        seen: set[Identity],
        limit: int | None = None,
        *,
        trusted: bool = True,
    ) -> None:
        self.links: list[str] = []
        self.left_out: list[str] = []
        self._root = _plain(root)
        self._exclude = exclude
        self._respect_gitignore = respect_gitignore and trusted
        self._trusted = trusted
        self._seen = seen
        self._limit = limit
        self._problems: list[Problem] = []

    def files(self, made: Callable[[str], Input]) -> Iterator[Input | Ordinary | Problem]:
        """The files, sorted in each folder, as what is `made` of their paths, and what went wrong."""
        try:
            top = self._top()
        except OSError as error:
            yield unreadable(self._root, error.strerror or str(error))
            return
        levels = [] if top is None else [self._opened(top, None)]
        yield from self._problems_so_far()
        while levels:
            folder, entries = levels[-1]
            entry = next(entries, None)
            if entry is None:
                levels.pop()
                continue
            name, what, identity = entry
            if what == _A_LINK:
                self.links.append(folder.path_of(name))
            elif what == _A_FOLDER:
                levels.append(self._opened(folder.enter(name), identity))
                yield from self._problems_so_far()
            elif identity not in self._seen:
                self._seen.add(identity)
                path = folder.path_of(name)
                yield Ordinary(path) if what == _ORDINARY else made(path)

    def _top(self) -> _Folder | None:
        """The folder that is searched; None if it is ignored, itself or a folder that holds it."""
        excludes: tuple[Position, ...] = ()
        if self._exclude:
            from relax_lint.sources.patterns import path_patterns

            excluded = path_patterns(self._exclude)
            parts = [part for part in self._root.split(os.sep) if part not in ("", os.curdir)]
            named = _within(excluded.top(), parts)
            if named is None:
                return None
            excludes = (excluded.top(), named)[: 2 if parts else 1]
        top = _Folder(self._root, (), excludes)
        if not self._respect_gitignore:
            return top
        inner = os.path.realpath(self._root)
        outer = _repository(inner)
        here = _Folder(outer, (), excludes)
        for name in os.path.relpath(inner, outer).split(os.sep) if inner != outer else ():
            here = self._with_ignores(here)
            if _ignored_by(here.ignores, name, is_folder=True):
                return None
            here = here.enter(name)
        return _Folder(top.path, here.ignores, excludes, here.room)

    def _opened(self, folder: _Folder, identity: Identity | None) -> tuple[_Folder, Iterator[Entry]]:
        """A folder with its own `.gitignore`, and what in it is to be searched; nothing of one that is not
        the folder `identity`, or that was searched before.
        """
        try:
            # A folder that was named may be a link; what a search comes to is none.
            descriptor = os.open(folder.path, _FOLDER if identity is None else _FOLDER | _NO_LINK)
        except OSError as error:
            return self._unreadable(folder, error)
        try:
            status = os.fstat(descriptor)
            here = (status.st_dev, status.st_ino)
            if identity not in (None, here):
                raise OSError(errno.EXDEV, "replaced during the search", folder.path)
            listing = _Listing(descriptor)
            # A search that is begun further inside may have been here.
            is_environment = listing.is_environment and self._trusted
            if here in self._seen or (identity is not None and is_environment):
                return folder, iter(())
            self._seen.add(here)
            self.left_out += map(folder.path_of, listing.left_out)
            if listing.has_ignores and self._respect_gitignore:
                folder = self._with_ignores(folder)
            return folder, listing.entries(folder, status.st_dev, self._limit)
        except OSError as error:
            return self._unreadable(folder, error)
        finally:
            os.close(descriptor)

    def _unreadable(self, folder: _Folder, error: OSError) -> tuple[_Folder, Iterator[Entry]]:
        self._problems.append(unreadable(folder.path, error.strerror or str(error)))
        return folder, iter(())

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
        from relax_lint.sources.patterns import MAX_WILD, patterns_in

        room = MAX_WILD if folder.room is None else folder.room
        patterns = patterns_in(data, room)
        if patterns.left_out or len(folder.ignores) == _MAX_IGNORES:
            self._problems.append(
                _problem(
                    path,
                    "some patterns are not used: those with wildcards that are about one folder may have "
                    f"{MAX_WILD:,} characters, in up to {_MAX_IGNORES} files",
                )
            )
        if len(folder.ignores) == _MAX_IGNORES:
            return folder
        ignores = (*folder.ignores, patterns.top())
        return _Folder(folder.path, ignores, folder.excludes, room - patterns.size)

    def _problems_so_far(self) -> list[Problem]:
        found, self._problems = self._problems, []
        return found


class _Listing:
    """What a folder holds that a search may be about. Raises OSError. To be used while the folder is open."""

    def __init__(self, descriptor: int) -> None:
        self.has_ignores = False
        self.is_environment = False
        self.left_out: list[str] = []
        self._descriptor = descriptor
        self._found: list[tuple[str, int, os.DirEntry[str]]] = []
        with os.scandir(descriptor) as listing:
            for each in listing:
                name = each.name
                if name == _IGNORE:
                    self.has_ignores = True
                elif name == _ENVIRONMENT:
                    self.is_environment = True
                if name in LEFT_OUT:
                    self.left_out.append(name)
                elif (what := _what(each, name)) is not None:
                    self._found.append((name, what, each))
        self._found.sort()
        self.left_out.sort()

    def entries(self, folder: _Folder, device: int, limit: int | None) -> Iterator[Entry]:
        """What in it is not ignored, by name."""
        found: list[Entry] = []
        may_ignore = folder.excludes or folder.ignores
        for name, what, each in self._found:
            if may_ignore and folder.ignores_entry(name, is_folder=what == _A_FOLDER):
                continue
            if what == _A_FILE and limit is not None and is_ordinary_entry(name, self._descriptor, limit):
                # Where something is mounted at it this is not its number: then it is counted once more.
                found.append((name, _ORDINARY, (device, each.inode())))
                continue
            try:
                status = each.stat(follow_symlinks=False)
                found.append((name, what, (status.st_dev, status.st_ino)))
            except FileNotFoundError:
                continue
            except OSError:
                # Who may list a folder may not enter it: whoever reads the entry says so.
                found.append((name, what, (device, each.inode())))
        return iter(found)


def _what(found: os.DirEntry[str], name: str) -> int | None:
    """What an entry is; None for one that no search is about."""
    # What begins with a dot may have no other, and then it has no ending.
    ending = os.path.splitext(name)[1] if name[0] == "." else name[name.rfind(".") :] if "." in name else ""
    wanted = ending in IN_FOLDERS
    try:
        if wanted and found.is_file(follow_symlinks=False):
            return _A_FILE
        if found.is_dir(follow_symlinks=False):
            return _A_FOLDER
        # What a link leads to is asked only so that it can be said that nobody followed it.
        if found.is_symlink() and (found.is_dir() or (wanted and found.is_file())):
            return _A_LINK
    except OSError:
        pass
    return None


def _plain(path: str) -> str:
    """A path without what does not matter in it, such as a `/` at its end."""
    if os.name != "posix":
        from pathlib import Path

        return str(Path(path))
    root = "/" * ((path.startswith("/")) + (path.startswith("//") and not path.startswith("///")))
    return root + "/".join(part for part in path.split("/") if part not in ("", ".")) or "."


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


def unreadable(path: str, reason: str) -> Problem:
    """What is said of a path that cannot be searched or read."""
    return _problem(path, f"cannot be read: {reason}")


def _problem(path: str, reason: str) -> Problem:
    # Hardly a search has any, and what they are made of takes as long as all the rest.
    from relax_lint.results.location import Location
    from relax_lint.results.problem import Problem, ProblemKind

    return Problem(ProblemKind.PARSE_ERROR, reason, Location(path, 1, 1, 1, 1))
