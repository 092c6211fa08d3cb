"""Source locations."""

from __future__ import annotations

from dataclasses import dataclass

from relax_lint.support.quick_init import quick_init

_MOST = 1 << 26
"""More lines or columns than any text that is read."""


@quick_init
@dataclass(frozen=True, order=True)
class Location:
    """A range of text: lines and columns are 1-based and count characters, the end is exclusive. In a
    notebook those are of the file, and `cell` and `cell_line` are the number of the cell and the line in it.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None = None
    cell_line: int | None = None

    @property
    def in_words(self) -> str:
        """Where in its file: `:26:5`, or `, cell 2, line 26`."""
        if self.cell is None or self.cell_line is None:
            return f":{self.line}:{self.column}"
        return f", cell {self.cell}, line {self.cell_line}"

    @property
    def line_in_words(self) -> str:
        """`line 26`, or `cell 2, line 26`."""
        if self.cell is None or self.cell_line is None:
            return f"line {self.line}"
        return f"cell {self.cell}, line {self.cell_line}"

    def check_decoded(self) -> None:
        """Raise ValueError for a location that no text has: showing it means counting up to it."""
        numbers = (self.line, self.column, self.end_line, self.end_column)
        if not all(-1 <= number <= _MOST for number in (*numbers, self.cell or 0, self.cell_line or 0)):
            raise ValueError("not a location in a text")
