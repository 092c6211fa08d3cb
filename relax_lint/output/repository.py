"""Paths as a code host names files: from the root of the repository, with slashes."""

from __future__ import annotations

import os
from functools import lru_cache

from relax_lint.support.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Repository:
    """A folder that paths are told from, without links in it."""

    root: str

    def relative(self, path: str) -> str | None:
        """The path from the root, links resolved; None where it is not a file in the repository."""
        return _relative(self.root, path)


def repository(folder: str = ".") -> Repository:
    """The nearest folder at or above `folder` that git works in, else `folder` itself."""
    start = here = os.path.realpath(folder)
    while not os.path.exists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return Repository(start)
        here = above
    return Repository(here)


@lru_cache(maxsize=1 << 12)
def _relative(root: str, path: str) -> str | None:
    try:
        real = os.path.realpath(path)
        if not os.path.exists(real) or os.path.commonpath([root, real]) != root:
            return None
    except (OSError, ValueError):
        # No file has such a name: a NUL in it, or half of a pair.
        return None
    return os.path.relpath(real, root).replace(os.sep, "/")
