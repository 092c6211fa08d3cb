"""What can be wrong with a source rather than with its memory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from relax_lint.results.location import Location


class ProblemKind(str, Enum):
    """A kind of problem; its value is the name of the rule that reports it."""

    PARSE_ERROR = "parse-error"
    UNRESOLVED_NAME = "unresolved-name"
    UNSAFE_SOURCE = "unsafe-source"
    ANALYSIS_FAILED = "analysis-failed"
    UNUSED_SUPPRESSION = "unused-suppression"


UNREADABLE = (
    ProblemKind.PARSE_ERROR,
    ProblemKind.UNRESOLVED_NAME,
    ProblemKind.UNSAFE_SOURCE,
    ProblemKind.ANALYSIS_FAILED,
)
"""The problems because of which a block is not analysed."""


@dataclass(frozen=True)
class Problem:
    """A unit or a whole input that cannot be analysed."""

    kind: ProblemKind
    message: str
    location: Location | None
    unit: str | None = None
    detail: tuple[str, ...] = ()
