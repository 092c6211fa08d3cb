"""What can be wrong with a source rather than with its memory."""

from __future__ import annotations

import re
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


# What TVM's parser says where it refuses a text because of memory, and the rule that says it of the texts
# that it lets through.
_BECAUSE_OF_MEMORY = (
    (re.compile(r"^Views into an array must not exceed the bounds"), "view-out-of-bounds"),
    (re.compile(r"^Reshape expects the new shape to be convertible"), "view-out-of-bounds"),
    (re.compile(r"^Number of arguments and parameters mismatch"), "kernel-shape-mismatch"),
    (re.compile(r"`out_ty` argument for R\.call_tir must be compatible"), "kernel-shape-mismatch"),
    (re.compile(r"In-place index \d+ is out of|The input used for an in-place"), "kernel-shape-mismatch"),
)
_MISMATCH = re.compile(r"Argument \d+ type mismatch: expected (.*), given (.*)")
_ELEMENTS = re.compile(r"dtype=\"(\w+)\"")


def memory_rule(message: str) -> str | None:
    """The name of the rule about memory that a text was refused for; None for any other reason."""
    if (found := _MISMATCH.search(message)) is not None:
        expected, given = (_ELEMENTS.findall(text) for text in found.groups())
        return "kernel-shape-mismatch" if expected == given else "kernel-dtype-mismatch"
    return next((rule for pattern, rule in _BECAUSE_OF_MEMORY if pattern.search(message)), None)


UNREADABLE = (
    ProblemKind.PARSE_ERROR,
    ProblemKind.UNRESOLVED_NAME,
    ProblemKind.UNSAFE_SOURCE,
    ProblemKind.ANALYSIS_FAILED,
)
"""The problems because of which a block is not analysed."""


@dataclass(frozen=True)
class Problem:
    """A unit or a whole input that cannot be analysed; `in_part` where only a part of it cannot, and the rest
    was judged. `is_note` where nothing is wrong with that part.
    """

    kind: ProblemKind
    message: str
    location: Location | None
    unit: str | None = None
    detail: tuple[str, ...] = ()
    in_part: bool = False
    is_note: bool = False
