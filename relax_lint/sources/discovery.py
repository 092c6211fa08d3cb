"""From the paths on the command line to inputs: folders are searched, `.gitignore` and excludes respected.

Imports no more than that takes: most runs find nothing that is to be judged.
"""

from __future__ import annotations

import os
import stat

from relax_lint.sources.kinds import kind_of
from relax_lint.sources.ordinary import LARGEST, Ordinary, ordinary_file
from relax_lint.sources.search import Search, unreadable
from relax_lint.support.regular_file import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from relax_lint.results.problem import Problem
    from relax_lint.sources.inputs import Input
    from relax_lint.sources.ordinary import Identity

_PATHS_TOLD = 3


def discover(
    paths: Sequence[str],
    *,
    exclude: Sequence[str] = (),
    respect_gitignore: bool = True,
    stdin_filename: str | None = None,
    follow_links: bool = True,
    tell: Callable[[str], None] | None = None,
) -> list[Input | Problem]:
    """The inputs below `paths`, in the order of the arguments and sorted within a folder, each once. No file
    is opened.

    A file that is named is taken whatever its name or the excludes say; `-` is standard input, shown as
    `stdin_filename`. `exclude` holds patterns in the syntax of `.gitignore`. What cannot be searched is a
    Problem. A link that a search finds counts where it leads to a file in one of the folders that were named;
    `tell` hears of those that lead elsewhere. Without `follow_links` none counts, named or not, nothing in a
    folder decides what is searched in it, and `tell` hears of what is left out because of its name.
    """
    finder = _Finder(exclude, respect_gitignore, follow_links, None)
    return [one for one in finder.all(paths, stdin_filename, tell) if not isinstance(one, Ordinary)]


def looked_at(
    paths: Sequence[str],
    *,
    exclude: Sequence[str] = (),
    stdin_filename: str | None = None,
    follow_links: bool = True,
    tell: Callable[[str], None] | None = None,
    limit: int = LARGEST,
) -> list[Input | Problem | Ordinary]:
    """The same, after a look into each text of at most `limit` bytes: those without Relax are told apart."""
    return _Finder(exclude, True, follow_links, limit).all(paths, stdin_filename, tell)


class _Finder:
    """The inputs that the paths of one run name. A text of at most `limit` bytes is looked into, none with
    None.
    """

    def __init__(
        self, exclude: Sequence[str], respect_gitignore: bool, follow_links: bool, limit: int | None
    ) -> None:
        self._exclude = exclude
        self._respect_gitignore = respect_gitignore
        self._follow_links = follow_links
        self._limit = limit
        self._seen: set[Identity] = set()
        self._roots: list[str] = []
        self._links: list[str] = []
        self._leaving: list[str] = []
        self._left_out: list[str] = []

    def all(
        self, paths: Sequence[str], stdin_filename: str | None, tell: Callable[[str], None] | None
    ) -> list[Input | Problem | Ordinary]:
        """The inputs at all of them; `tell` hears of the links that are not followed."""
        found: list[Input | Problem | Ordinary] = []
        seen, limit = self._seen, self._limit if self._follow_links else None
        for path in paths:
            if limit is None or path == "-" or (ordinary := ordinary_file(path, limit)) is None:
                found += self._at(path, stdin_filename)
            elif ordinary not in seen:
                seen.add(ordinary)
                found.append(Ordinary(path))
        found += self._linked()
        if self._leaving and tell is not None:
            tell(f"links that leave the named folders are not followed: {_told(self._leaving)}")
        if self._left_out and tell is not None:
            tell(f"folders with these names are searched only if they are named: {_told(self._left_out)}")
        return found

    def _at(self, path: str, stdin_filename: str | None) -> Iterator[Input | Problem | Ordinary]:
        """The inputs at one path of the command line, links apart."""
        if path == "-":
            yield _input(stdin_filename or "<stdin>", None, named=True)
            return
        try:
            status = os.stat(path)
            link = not self._follow_links and _has_link(path)
        except (OSError, ValueError) as error:
            yield unreadable(path, getattr(error, "strerror", None) or str(error))
            return
        if link:
            yield unreadable(path, "a link, and links are not followed")
        elif stat.S_ISDIR(status.st_mode):
            self._roots.append(path)
            search = Search(
                path,
                self._exclude,
                self._respect_gitignore,
                self._seen,
                self._limit,
                trusted=self._follow_links,
            )
            yield from search.files(lambda found: _input(found, found, beneath=path))
            self._links += search.links
            if not self._follow_links:
                self._left_out += [one for one in search.left_out if _may_hide(one)]
        elif (status.st_dev, status.st_ino) not in self._seen:
            self._seen.add((status.st_dev, status.st_ino))
            yield _input(path, path, named=True, beneath=self._base(path))

    def _linked(self) -> Iterator[Input]:
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
                self._leaving.append(link)
            elif stat.S_ISREG(status.st_mode) and (status.st_dev, status.st_ino) not in self._seen:
                self._seen.add((status.st_dev, status.st_ino))
                yield _input(link, target, beneath=os.path.realpath(root))

    def _base(self, path: str) -> str | None:
        """What the links on the way to a named file must not leave."""
        if self._follow_links:
            return None
        return "." if _is_below_here(path) else os.path.dirname(path) or "."


def _told(paths: Sequence[str]) -> str:
    shown = ", ".join(f"`{path}`" for path in paths[:_PATHS_TOLD])
    more = len(paths) - _PATHS_TOLD
    return shown + (f" and {more} more" if more > 0 else "")


def _may_hide(path: str) -> bool:
    """Whether something may be in a folder that is left out: in what git and Python keep nobody looks."""
    return os.path.basename(path) not in (".git", "__pycache__") and os.path.isdir(path)


def _input(path: str, source: str | None, *, named: bool = False, beneath: str | None = None) -> Input:
    # Only here: what an input is made of takes longer to load than most folders to search.
    from relax_lint.sources.inputs import Input

    return Input(path, kind_of(path), source, named, beneath=beneath)


def _has_link(path: str) -> bool:
    """Whether a path is a link or, where it is one below the working directory, leads through one."""
    parts = _parts(path) if _is_below_here(path) else [path]
    return any(os.path.islink(os.path.join(*parts[: count + 1])) for count in range(len(parts)))


def _is_below_here(path: str) -> bool:
    return not os.path.isabs(path) and os.pardir not in _parts(path)


def _parts(path: str) -> list[str]:
    return [part for part in path.split(os.sep) if part not in ("", os.curdir)]
