"""What a sandbox can lack, as codes that a worker reports and as words for a person.

Imports nothing but the standard library: the parent of the workers reads this too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from relax_lint.support.errors import UserError

OFF, AUTO, REQUIRE = "off", "auto", "require"

GAPS: Mapping[str, str] = MappingProxyType(
    {
        "system": "this system is not Linux",
        "landlock": "the kernel, or the container, offers no Landlock:"
        " a worker can read and write the user's files",
        "truncation": "the Landlock of this kernel is older than Linux 6.2:"
        " a worker can cut a file that it may read",
        "architecture": "there is no table of system calls for this processor: no seccomp filter",
        "seccomp": "the kernel, or the container, refuses a seccomp filter: a worker can start processes"
        " and open sockets",
    }
)
"""By code, what is missing and what that leaves open. A worker reports codes, never words of its own."""


class SandboxError(UserError):
    """The sandbox was required and cannot be had; the text says why."""


def known_gaps(value: object) -> tuple[str, ...]:
    """The codes in the report of a worker. Raises ValueError for anything else."""
    if not isinstance(value, list) or not all(isinstance(code, str) and code in GAPS for code in value):
        raise ValueError("not a report of gaps")
    return tuple(value)


def required(gaps: Collection[str]) -> str:
    """The message for a sandbox that was required and has gaps."""
    return f"`--sandbox require`: {_words(gaps)}"


def note(gaps: Collection[str]) -> str:
    """The note for a run that went on with gaps."""
    return f"the workers ran without their full sandbox: {_words(gaps)}"


def _words(gaps: Collection[str]) -> str:
    return "; ".join(words for code, words in GAPS.items() if code in gaps)
