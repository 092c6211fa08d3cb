"""Entering the sandbox: `enter` before a process is handed anything, `seal` once its libraries are loaded."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys

from relax_lint.running.sandbox import folders, gaps
from relax_lint.support.lazy_dataclass import dataclass

_LOADED_WITH_TVM = ("relax_lint.sources.parsing", "relax_lint.judging.report", "relax_lint.sources.saved")
_COMPILED_ONCE = ("tvm", "sympy", "relax_lint")


@dataclass(frozen=True)
class Wanted:
    """How a process is to be confined.

    `mode` is `off`, `auto` or `require`. `temporary` is the one folder that can be written, `folders` can be
    read, `trusted_paths` are entries of the import path that the user named, `packages` are read wherever
    they are. With `executable` new executable memory is never refused.
    """

    mode: str
    temporary: str
    folders: tuple[str, ...] = ()
    trusted_paths: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    executable: bool = False


# What Python loads when it first meets certain text (names of characters, old encodings), and common helpers.
_LOADED_LATE = (
    *("unicodedata", "_multibytecodec", "_codecs_cn", "_codecs_hk", "_codecs_iso2022", "_codecs_jp"),
    *("_codecs_kr", "_codecs_tw", "_decimal", "_heapq", "_json", "_pickle", "_random", "array", "zlib"),
)

_sealable: str | None = None
"""The machine that `seal` has still to close; None outside of a sandbox."""


def enter(wanted: Wanted) -> tuple[str, ...]:
    """Confine this process, which has one thread, from now on; the codes of what could not be had (see
    `gaps.GAPS`). It is in its temporary folder afterwards.
    """
    os.chdir(wanted.temporary)
    if wanted.mode == gaps.OFF:
        return ()
    if sys.platform != "linux":
        return ("system",)
    from relax_lint.running.sandbox import limits

    _keep_bytecode()
    limits.hide()
    found = [*_confine_files(wanted)]
    # One more layer for root, below the others: where it cannot be had, they still stand.
    with contextlib.suppress(OSError):
        limits.give_up_privileges()
    return (*found, *_confine_calls(wanted))


def seal() -> None:
    """Refuse new executable memory, once everything that a task needs is loaded; nothing where the process
    is in no sandbox, or runs compiled code.
    """
    global _sealable
    if _sealable is None:
        return
    from relax_lint.running.sandbox import seccomp

    for name in _LOADED_LATE:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    machine, _sealable = _sealable, None
    seccomp.refuse_executable_memory(machine)


def _confine_files(wanted: Wanted) -> list[str]:
    from relax_lint.running.sandbox import landlock

    if landlock.version() == 0:
        return ["landlock"]
    rules = folders.allowed(wanted.temporary, wanted.folders, wanted.trusted_paths, wanted.packages)
    try:
        landlock.restrict(rules)
    except OSError:
        return ["landlock"]
    return [] if landlock.version() >= landlock.FIRST_WITH_TRUNCATION else ["truncation"]


def _confine_calls(wanted: Wanted) -> list[str]:
    global _sealable
    from relax_lint.running.sandbox import seccomp

    machine = os.uname().machine
    if not seccomp.has_filter(machine) or sys.maxsize < 2**32:
        return ["architecture"]
    try:
        seccomp.refuse_calls(machine)
    except OSError:
        return ["seccomp"]
    _sealable = None if wanted.executable else machine
    return []


def _keep_bytecode() -> None:
    """Let Python keep the bytecode of libraries that it has not kept yet, while it still can: in the sandbox
    nobody can, and each start would compile them again.
    """
    if sys.dont_write_bytecode or all(_is_compiled(name) for name in _COMPILED_ONCE):
        return
    child = os.fork()
    if child == 0:
        try:
            for name in _LOADED_WITH_TVM:
                importlib.import_module(name)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def _is_compiled(name: str) -> bool:
    """Whether there is nothing to keep, or nowhere to keep it."""
    origin = folders.package_origin(name)
    if origin is None or not origin.endswith(".py"):
        return True
    kept = importlib.util.cache_from_source(origin)
    return os.path.exists(kept) or not os.access(os.path.dirname(origin), os.W_OK)
