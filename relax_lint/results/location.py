"""Source locations."""

from __future__ import annotations

from dataclasses import dataclass

_MOST = 1 << 26
"""More lines or columns than any text that is read."""


@dataclass(frozen=True, order=True)
class Location:
    """A range of text: lines and columns are 1-based and count characters, the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def check_decoded(self) -> None:
        """Raise ValueError for a location that no text has: showing it would mean counting up to it."""
        if not all(
            -1 <= number <= _MOST for number in (self.line, self.column, self.end_line, self.end_column)
        ):
            raise ValueError("not a location in a text")
