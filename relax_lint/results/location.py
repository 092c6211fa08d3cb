"""Source locations."""

from __future__ import annotations

from dataclasses import dataclass

_MOST = 1 << 26
"""No text that is read has as many lines or columns."""


@dataclass(frozen=True, order=True)
class Location:
    """A range of text: lines and columns are 1-based and count characters, the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def check_decoded(self) -> None:
        """Raise ValueError for a place that no text has: whoever shows it would count up to it."""
        if not all(
            -1 <= number <= _MOST for number in (self.line, self.column, self.end_line, self.end_column)
        ):
            raise ValueError("not a place in a text")
