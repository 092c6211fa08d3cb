"""What can be wrong with a source rather than with its memory."""

from __future__ import annotations

import re
from enum import Enum

from relax_lint.results.location import Location
from relax_lint.support.lazy_dataclass import dataclass


class ProblemKind(str, Enum):
    """A kind of problem; its value is the name of the rule that reports it."""

    PARSE_ERROR = "parse-error"
    UNRESOLVED_NAME = "unresolved-name"
    UNSAFE_SOURCE = "unsafe-source"
    ANALYSIS_FAILED = "analysis-failed"
    UNUSED_SUPPRESSION = "unused-suppression"


# Texts and not patterns here: hardly a run needs them, and compiling them is felt at every start.
#
# What TVM's parser says where it refuses a text because of memory, and the rule that says it of the texts
# that it lets through.
_BECAUSE_OF_MEMORY: tuple[tuple[str, str], ...] = (
    (r"^Views into an array must not exceed the bounds", "view-out-of-bounds"),
    (r"^Reshape expects the new shape to be convertible", "view-out-of-bounds"),
    (r"^Number of arguments and parameters mismatch", "kernel-shape-mismatch"),
    (r"`out_ty` argument for R\.call_tir must be compatible", "kernel-shape-mismatch"),
    (r"In-place index \d+ is out of|The input used for an in-place", "kernel-shape-mismatch"),
)
_MISMATCH = r"Argument \d+ type mismatch: expected (.*), given (.*)"
_ELEMENTS = r"dtype=\"(\w+)\""


def memory_rule(message: str) -> str | None:
    """The name of the rule about memory that a text was refused for; None for any other reason."""
    if (found := re.search(_MISMATCH, message)) is not None:
        expected, given = (re.findall(_ELEMENTS, text) for text in found.groups())
        return "kernel-shape-mismatch" if expected == given else "kernel-dtype-mismatch"
    return next((rule for pattern, rule in _BECAUSE_OF_MEMORY if re.search(pattern, message)), None)


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
