"""The first look at the inputs of a run: most runs end there, so it imports no more than that takes."""

from __future__ import annotations

import os

from relax_lint.commands.terminal import warn, write
from relax_lint.sources.discovery import looked_at
from relax_lint.sources.ordinary import LARGEST, Ordinary
from relax_lint.support.gc_pause import without_collection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from relax_lint.results.problem import Problem
    from relax_lint.settings.config import Config
    from relax_lint.sources.inputs import Input

    Inputs = list[Input | Problem | Ordinary]

_QUIET = frozenset({"-q", "--quiet"})
_MARKS = frozenset("-@")
"""How a word begins that is no path."""
_PLAIN = frozenset({*_QUIET, "--no-cache", "--strict", "--exit-zero"})
"""The options that stand alone and do not matter where there is nothing to judge, but for what is printed."""


class PlainCall:
    """A `check` of paths with no other options than these, and without a configuration: what it is about is
    known before options are read. `inputs` is None for any other call.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        options = {word for word in arguments if word[:1] in _MARKS}
        self.inputs: Inputs | None = None
        self._is_quiet = not options.isdisjoint(_QUIET)
        if options <= _PLAIN and not may_be_configured():
            words = arguments[1:] if arguments[0] == "check" else arguments
            paths = [word for word in words if word not in options] if options else words
            with without_collection():
                self.inputs = looked_at(paths, tell=None if self._is_quiet else warn)

    def answer(self) -> int | None:
        """Say that there is no Relax, and the exit code; None where that is not so."""
        if self.inputs is None or not none_holds_relax(self.inputs):
            return None
        return 0 if self._is_quiet else write(without_relax(self.inputs))


def inputs_looked_at(options: Namespace, config: Config | None) -> Inputs:
    """What the paths on the command line lead to; those without Relax are told apart. None is the
    configuration without a word of the user's.
    """
    notes: list[str] = []
    with without_collection():
        found = looked_at(
            options.paths,
            exclude=() if config is None else config.exclude,
            stdin_filename=options.stdin_filename,
            follow_links=config is None or config.follow_links,
            tell=notes.append,
            limit=LARGEST if config is None else min(LARGEST, config.max_file_size),
        )
    # Whoever changes files searches once more, and says it then.
    if not options.quiet and (none_holds_relax(found) or not _changes_files(options)):
        for note in notes:
            warn(note)
    return found


def _changes_files(options: Namespace) -> bool:
    return any(getattr(options, name, False) for name in ("fix", "diff", "add_ignore"))


def none_holds_relax(inputs: Inputs) -> bool:
    """Whether there is nothing to judge, and nothing to say of any input."""
    return set(map(type, inputs)) == {Ordinary}


def without_relax(inputs: Sequence[object]) -> str:
    """What is said then."""
    return f"no Relax function in {len(inputs):,} input{'' if len(inputs) == 1 else 's'}\n"


def may_be_configured() -> bool:
    """Whether there may be a configuration, or nothing is certain."""
    from relax_lint.settings.pyproject import candidates

    try:
        os.getcwd()
        return next(candidates("."), None) is not None
    except OSError:
        return True
