"""What a worker process says, line by line. It may be anything at all: it is bounded, and has one of four
forms, or it is no answer.
"""

from __future__ import annotations

from typing import Any

from relax_lint.running.sandbox.gaps import known_gaps
from relax_lint.support.bounded_json import read_json
from relax_lint.support.lazy_dataclass import dataclass

MAX_ANSWER_BYTES = 128 << 20
_MAX_ANSWER_VALUES = 4_000_000
MAX_TASK_BYTES = 2 * MAX_ANSWER_BYTES
"""What all answers about one task may have together."""

_MAX_MESSAGE_CHARACTERS = 4096


@dataclass(frozen=True)
class Confined:
    """The process is in its sandbox, which lacks these parts."""

    gaps: tuple[str, ...]


@dataclass(frozen=True)
class Value:
    """The task gave a value."""

    value: Any


@dataclass(frozen=True)
class Raised:
    """The task ended with an exception."""

    out_of_memory: bool
    message: str
    traceback: tuple[str, ...]


@dataclass(frozen=True)
class Done:
    """The task came to its end."""


Answer = Confined | Value | Raised | Done


def understood(line: bytes) -> Answer:
    """The answer in a line. Raises ValueError for one that is none."""
    match read_json(line, max_bytes=MAX_ANSWER_BYTES, max_values=_MAX_ANSWER_VALUES):
        case ["sandbox", gaps]:
            return Confined(known_gaps(gaps))
        case ["item", value]:
            return Value(value)
        case ["exception", [bool(exhausted), str(message), [*frames]]] if _are_texts(frames):
            return Raised(exhausted, message[:_MAX_MESSAGE_CHARACTERS], tuple(frames))
        case ["finished", None]:
            return Done()
    raise ValueError("not an answer")


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)
