"""What a worker process is asked, and what it answers: plain data, decoded with care in the parent.

The work itself is in `file_task.py`, which only a worker imports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from relax_lint.results.location import Location
from relax_lint.results.problem import Problem
from relax_lint.results.report import UnitResult
from relax_lint.sources.ignore_comment import IgnoreComment
from relax_lint.support.codec import decode
from relax_lint.support.lazy_dataclass import dataclass

FUNCTION = "relax_lint.running.file_task:analyse"
"""What the worker pool is asked to call."""

LOWERING = "lowering for"
"""How the words for what takes long begin while TVM lowers a module."""

LOADING = "relax_lint.running.file_task:load"
"""What it is asked to call to see whether TVM can be loaded."""


@dataclass(frozen=True)
class UnitHead:
    """A unit that was found: its name and the place of its first line."""

    name: str | None
    location: Location | None


@dataclass(frozen=True)
class UnitList:
    """The first answer: the units of the input, what could not be read, and the ignore comments. `lines` is
    the text that the locations point at, by line number; `notes` are about the input as a whole.
    """

    units: tuple[UnitHead, ...]
    problems: tuple[Problem, ...] = ()
    comments: tuple[IgnoreComment, ...] = ()
    lines: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loaded:
    """The second answer, before the first unit: TVM could be imported, and these rules were found."""

    tvm_version: str
    rules: tuple[str, ...]


@dataclass(frozen=True)
class Doing:
    """What takes long and begins now; also asks for a new time limit."""

    what: str


@dataclass(frozen=True)
class Impossible:
    """The run as a whole cannot be carried out as it was asked for."""

    reason: str


@dataclass(frozen=True)
class FileData:
    """An input as it is handed to a worker. `named` is False for a file that a search of folders found.
    `source` is where a model lies, which has no `data`: its results cannot be kept for another run. It is
    None for everything else.
    """

    data: bytes
    path: str
    kind: str
    named: bool
    source: str | None = None


Answer = UnitList | Loaded | Doing | Impossible | UnitResult
_ANSWERS: Mapping[str, type[Answer]] = {
    cls.__name__: cls for cls in (UnitList, Loaded, Doing, Impossible, UnitResult)
}


def read_answer(value: Any) -> Answer:
    """An answer of `analyse`, from what the worker pool delivers. Raises ValueError for anything else."""
    match value:
        case [str(name), data] if name in _ANSWERS:
            return decode(_ANSWERS[name], data)
    raise ValueError("not an answer of a worker")
