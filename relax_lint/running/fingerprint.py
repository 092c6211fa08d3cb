"""What the results depend on besides the input and the configuration: the tool, its rules, TVM and Python.

Imports neither TVM nor sympy, and tells two builds of TVM apart without loading either.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from relax_lint.rule import rule_packages

_DISTRIBUTIONS = ("apache-tvm", "apache-tvm-ffi", "sympy")
_INSTALLED = ("site-packages", "dist-packages")


def tool_fingerprint() -> str:
    """The same, in hexadecimal digits, as long as the same input gives the same result.

    The tool and the rule packages count by the contents of their files, so that a cache outlives a new
    installation of the same version and not a change in a checkout.
    """
    digest = hashlib.sha256()
    for part in (*sys.version_info[:3], sys.platform, *_versions(), *_library()):
        digest.update(f"{part}\n".encode())
    for place in _packages():
        for path in _files(place):
            digest.update(f"{os.path.relpath(path, place)}\n".encode())
            with open(path, "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


def _versions() -> Iterator[str]:
    for name in _DISTRIBUTIONS:
        try:
            yield version(name)
        except PackageNotFoundError:
            yield "none"


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


def _files(place: str) -> Iterator[str]:
    if place.endswith(".py"):
        yield place
    elif os.path.isdir(place):
        for path in _entries(place):
            yield from _files(path)


def _entries(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []
