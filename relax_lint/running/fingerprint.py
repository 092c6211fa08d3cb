"""What the results depend on besides the input and the configuration: the tool, its rules, TVM and Python.

Imports neither TVM nor sympy, and tells two builds of TVM apart without loading either.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec

from relax_lint.rule import rule_packages
from relax_lint.running.kept_answers import python_files
from relax_lint.support.installed import versions

_DISTRIBUTIONS = ("apache-tvm", "apache-tvm-ffi", "sympy")
_INSTALLED = ("site-packages", "dist-packages")
_CLOCK_STEP_S = 2.0
"""The coarsest step of the times that a file system keeps."""


def tool_fingerprint(contents: str | None = None) -> str:
    """The same, in hexadecimal digits, as long as the same input gives the same result. `contents` is what
    `EngineFiles.contents` gives, if it is known.
    """
    digest = hashlib.sha256()
    for part in (*sys.version_info[:3], sys.platform, *versions(_DISTRIBUTIONS), *_library()):
        digest.update(f"{part}\n".encode())
    digest.update((EngineFiles().contents() if contents is None else contents).encode())
    return digest.hexdigest()


class EngineFiles:
    """The files of the tool and of the rule packages.

    They count by their contents, so that a cache outlives a new installation of the same version and not a
    change in a checkout. To read them all takes longer than to look up a result, so a run remembers what they
    contained when each of them was as `stamp` tells: of this size, this inode, and changed at this time.
    `places` are the folders that hold them.
    """

    def __init__(self) -> None:
        self.places = list(_packages())
        self._found = [(place, path, status) for place in self.places for path, status in python_files(place)]

    @property
    def place(self) -> str:
        """What stands for the folders of this installation, as a name of a file."""
        return hashlib.sha256("\n".join(self.places).encode(errors="surrogateescape")).hexdigest()[:32]

    @property
    def stamp(self) -> str:
        """Another text whenever a file was written, replaced, added or removed."""
        lines = [f"{path}\n{_state(status)}\n" for _, path, status in self._found]
        return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()

    @property
    def is_settled(self) -> bool:
        """Whether a later change must show in `stamp`: a clock of files may stand still for a moment."""
        latest = max((max(status.st_mtime, status.st_ctime) for _, _, status in self._found), default=0.0)
        return latest < time.time() - _CLOCK_STEP_S

    def contents(self) -> str:
        """A digest of all names and contents."""
        digest = hashlib.sha256()
        for place, path, _ in self._found:
            digest.update(f"{os.path.relpath(path, place)}\n".encode(errors="surrogateescape"))
            with open(path, "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
        return digest.hexdigest()


def is_development_build() -> bool:
    """Whether TVM is one that keeps its version when it changes."""
    return any(_library())


def _library() -> Iterator[str]:
    """TVM's library: a development build keeps its version when it changes."""
    spec = find_spec("tvm")
    if spec is None or spec.origin is None:
        return
    package = os.path.dirname(spec.origin)
    if any(part in _INSTALLED for part in package.split(os.sep)):
        return
    # In the package, or in a checkout's build folder.
    for folder in ("", "lib", "../../build", "../../build/lib", "../../lib"):
        for path in _entries(os.path.normpath(os.path.join(package, folder))):
            if os.path.basename(path).startswith("libtvm"):
                status = os.stat(path)
                yield f"{path} {status.st_size} {status.st_mtime_ns}"


def _packages() -> Iterator[str]:
    """The folders of the tool and of the packages whose rules are installed; files, of single modules."""
    yield os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for name in rule_packages():
        spec = find_spec(name)
        if spec is not None:
            yield from spec.submodule_search_locations or filter(None, [spec.origin])


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _entries(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []
