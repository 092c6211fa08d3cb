"""What can be wrong with a source rather than with its memory."""

from __future__ import annotations

from enum import Enum


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
