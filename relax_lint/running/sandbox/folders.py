"""Which files a worker may read: the interpreter, installed packages, libraries of the system, no others."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator

from relax_lint.running.sandbox.landlock import LIST, READ, WRITE

_SYSTEM = (
    *(
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/usr/local/lib",
        "/usr/local/lib64",
        "/lib",
        "/lib32",
        "/lib64",
    ),
    *("/usr/share/zoneinfo", "/usr/share/locale", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime"),
    *(
        "/dev/urandom",
        "/dev/random",
        "/dev/zero",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/sys/devices/system/cpu",
    ),
)
_NAMED_FOLDERS = ("LD_LIBRARY_PATH", "TVM_LIBRARY_PATH")
_INSTALLED = ("site-packages", "dist-packages")
_PACKAGES = ("relax_lint", "relax_lint_rules", "tvm", "tvm_ffi", "sympy", "numpy")
# Where a build of TVM beside its sources keeps its libraries.
_BUILD_FOLDERS = ("build", "lib")


def allowed(
    temporary: str, folders: Iterable[str], trusted_paths: Iterable[str], packages: Iterable[str]
) -> Iterator[tuple[str, int]]:
    """Paths with the rights to what is at and below them.

    `temporary` can be written; `folders` can be read, as can the entries of the import path that are among
    `trusted_paths` or in an installation. Any other entry, which may be the folder that is linted, can only
    be listed, but for the packages that are needed, `packages` among them.
    """
    yield "/dev/null", WRITE
    yield temporary, WRITE
    installation = [*_interpreter()]
    trusted = {os.path.realpath(path) for path in trusted_paths}
    for path in (*folders, *_SYSTEM, *installation, *_libraries()):
        yield path, READ
    roots = [os.path.realpath(path) for path in installation]
    for entry in filter(None, sys.path):
        readable = _is_installed(entry, roots) or os.path.realpath(entry) in trusted
        yield entry, READ if readable else LIST
        if not readable:
            yield from ((path, READ) for path in _metadata(entry))
    for name in (*_PACKAGES, *packages):
        for path in _package(name):
            yield path, READ


def package_origin(name: str) -> str | None:
    """The file that a package, which is not imported, begins with; None where there is no such file."""
    found = _spec(name)
    return None if found is None or not found.has_location else found.origin


def _spec(name: str) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None


def _interpreter() -> Iterator[str]:
    paths = sysconfig.get_paths()
    yield from {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}:
        for name in ("lib", "lib64", "pyvenv.cfg"):
            yield os.path.join(prefix, name)


def _metadata(entry: str) -> Iterator[str]:
    """What says which packages, with which rules, are installed in an entry of the import path. It may be the
    folder that is linted: a link could lead anywhere.
    """
    try:
        names = os.listdir(entry)
    except OSError:
        return
    paths = (os.path.join(entry, name) for name in names if name.endswith((".dist-info", ".egg-info")))
    yield from (path for path in paths if not os.path.islink(path))


def _libraries() -> Iterator[str]:
    for name in _NAMED_FOLDERS:
        yield from filter(os.path.isabs, os.environ.get(name, "").split(os.pathsep))
    home = os.environ.get("TVM_HOME", "")
    if os.path.isabs(home):
        yield from (os.path.join(home, part) for part in ("python", *_BUILD_FOLDERS))


def _package(name: str) -> Iterator[str]:
    origin = package_origin(name)
    if origin is None:
        # A package without a file of its own: the folders that it consists of.
        found = _spec(name)
        yield from found.submodule_search_locations or () if found is not None else ()
        return
    if not os.path.basename(origin).startswith("__init__."):
        yield origin
        return
    folder = os.path.dirname(origin)
    yield folder
    if name in ("tvm", "tvm_ffi") and os.path.basename(os.path.dirname(folder)) not in _INSTALLED:
        sources = os.path.dirname(os.path.dirname(folder))
        yield from (os.path.join(sources, part) for part in _BUILD_FOLDERS)


def _is_installed(entry: str, roots: list[str]) -> bool:
    real = os.path.realpath(entry)
    return os.path.basename(real) in _INSTALLED or any(
        os.path.isabs(real) and os.path.commonpath([real, root]) == root for root in roots
    )
