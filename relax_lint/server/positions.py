"""Between the places of results (lines and columns from 1, in characters) and those of the protocol (from 0,
in code units of the encoding that client and server agreed on).
"""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from relax_lint.results.location import Location
from relax_lint.support.lazy_dataclass import dataclass

_UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
_CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


@dataclass(frozen=True)
class Ruler:
    """Measures one text: its `lines` without their ends, in the `encoding` utf-8, utf-16 or utf-32."""

    lines: Sequence[str]
    encoding: str

    def range(self, location: Location | None) -> types.Range:
        """The range of a place; the first character of the text for none."""
        if location is None:
            return types.Range(types.Position(0, 0), self._position(1, 2))
        return types.Range(
            self._position(location.line, location.column),
            self._position(location.end_line, location.end_column),
        )

    def place(self, position: types.Position) -> tuple[int, int]:
        """Line and column of a position."""
        line = self._line(position.line + 1)
        units = line.encode(_CODECS[self.encoding], "surrogatepass")
        before = units[: position.character * _UNIT_BYTES[self.encoding]]
        return position.line + 1, len(before.decode(_CODECS[self.encoding], "ignore")) + 1

    def _position(self, line: int, column: int) -> types.Position:
        before = self._line(line)[: max(column - 1, 0)]
        units = len(before.encode(_CODECS[self.encoding], "surrogatepass")) // _UNIT_BYTES[self.encoding]
        return types.Position(max(line - 1, 0), units)

    def _line(self, number: int) -> str:
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""


def covers(location: Location, place: tuple[int, int]) -> bool:
    """Whether a place, a line and a column, is in a location or at its end."""
    return (location.line, location.column) <= place <= (location.end_line, location.end_column)
