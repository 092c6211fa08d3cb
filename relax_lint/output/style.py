"""Colours and columns of the terminal."""

from __future__ import annotations

import unicodedata

from relax_lint.results.verdict import Severity
from relax_lint.support.lazy_dataclass import dataclass

_RESET = "\x1b[0m"
# OSC 8: what opens and, with an empty address, closes a link.
_LINK, _END = "\x1b]8;;", "\x1b\\"
_CODES = {
    Severity.ERROR.value: "\x1b[1;31m",
    Severity.WARNING.value: "\x1b[1;33m",
    Severity.NOTE.value: "\x1b[1;36m",
    "frame": "\x1b[1;34m",
    "strong": "\x1b[1m",
    "code": "\x1b[36m",
}


@dataclass(frozen=True)
class Style:
    """Whether to paint, the columns to keep to (None: any number), and whether links are shown. The kinds of
    text are `error`, `warning`, `note`, `strong`, `code`, and `frame` (line numbers, arrows and secondary
    underlines).
    """

    color: bool = False
    columns: int | None = None
    links: bool = False

    def paint(self, kind: str, text: str) -> str:
        """The text in the colour of its kind."""
        return f"{_CODES[kind]}{text}{_RESET}" if self.color and text else text

    def link(self, text: str, address: str) -> str:
        """The text as a link, where links are shown."""
        return f"{_LINK}{address}{_END}{text}{_LINK}{_END}" if self.links else text


PLAIN = Style()


def width(text: str) -> int:
    """Terminal columns of text that is safe to show."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
