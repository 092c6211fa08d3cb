"""Source locations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Location:
    """A range of text: lines and columns are 1-based and count characters, the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
