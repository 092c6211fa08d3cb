"""`--watch`: the same run again, whenever a file changes that it may read."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence

from relax_lint.commands.terminal import INTERRUPTED, UsageError, complain, is_terminal, tell, write
from relax_lint.settings.config import Config
from relax_lint.support.errors import UserError

_MISSING = (
    "`--watch` needs `watchfiles`: install relax-lint with the extra `watch`,"
    " as in `pip install 'relax-lint[watch]'`"
)
_CLEAR_SCREEN = "\x1b[2J\x1b[3J\x1b[H"
_READ = (".py", ".pyi", ".json", ".ipynb", ".md", ".onnx", ".pt2")
_ONCE = ("write_baseline", "update_baseline", "add_ignore")
# How long nothing may happen before the watcher is asked again. The first time it is asked it begins to
# watch, and the first run begins: what changes while that goes on counts.
_PAUSE_MS = 200


def watch(options: argparse.Namespace, config: Config, run: Callable[[], int]) -> int:
    """Run, and run again after each change, until Ctrl-C, which is an exception as elsewhere. Raises
    UsageError where the extra is missing, or there is nothing to watch. What else a run raises is told and
    ends nothing: a configuration that is being edited may be wrong for a while.
    """
    try:
        import watchfiles
    except ModuleNotFoundError:
        raise UsageError(_MISSING) from None
    if "-" in options.paths:
        raise UsageError("`--watch` watches files, and standard input is not a file")
    if (other := next((name for name in _ONCE if getattr(options, name, False)), None)) is not None:
        raise UsageError(f"`--watch` cannot be combined with `--{other.replace('_', '-')}`")
    watched = Watched([*options.paths, *([config.origin] if config.origin else ())], options.output_file)
    usual = watchfiles.DefaultFilter()
    changes: Iterable[object] = watchfiles.watch(
        *watched.folders,
        watch_filter=lambda change, path: usual(change, path) and watched.matters(path),
        recursive=watched.recursive,
        rust_timeout=_PAUSE_MS,
        yield_on_timeout=True,
    )
    started = False
    for changed in changes:
        if (changed or not started) and _again(run) == INTERRUPTED:
            return INTERRUPTED
        started = True
    return 0


def _again(run: Callable[[], int]) -> int:
    if is_terminal(sys.stdout):
        write(_CLEAR_SCREEN)
    try:
        code = run()
    except UserError as error:
        code = complain(str(error))
    if code != INTERRUPTED:
        tell("relax-lint: watching for changes (Ctrl-C ends)")
    return code


class Watched:
    """What is watched for the paths of a command line. A file is watched through its folder: editors put a
    new file in its place.
    """

    def __init__(self, paths: Sequence[str], written: str | None) -> None:
        named = {os.path.abspath(path) for path in paths}
        self._below = tuple(os.path.join(path, "") for path in named if os.path.isdir(path))
        self._files = {path for path in named if not os.path.isdir(path)}
        # What a run writes is no reason for another one.
        self._written = os.path.abspath(written) if written else ""
        self._files.discard(self._written)
        self.folders = sorted({path if os.path.isdir(path) else os.path.dirname(path) for path in named})
        self.recursive = bool(self._below)

    def matters(self, path: str) -> bool:
        """Whether a change of the file may change what a run reports."""
        if path in self._files:
            return True
        return path != self._written and path.endswith(_READ) and path.startswith(self._below)
