"""Source lines with the marked places underlined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from relax_lint.output.style import Style, width
from relax_lint.output.wrapping import fold
from relax_lint.support.escaping import cells, printable
from relax_lint.support.lazy_dataclass import dataclass

MAX_COLUMNS = 120
_BEFORE_MARK = 20
_CUT = "..."
_LABEL_COLUMNS = 40


@dataclass(frozen=True)
class Mark:
    """A place to underline, as `Location` counts: 1-based, the end exclusive. `kind` is a kind of `Style`;
    the primary place is drawn with `^`, the others with `-`.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    label: str
    kind: str
    primary: bool

    @property
    def is_long(self) -> bool:
        """Whether the place goes over more than one line."""
        return self.end_line > self.line

    @property
    def sign(self) -> str:
        """The character of the underline."""
        return "^" if self.primary else "-"


def draw(marks: Sequence[Mark], lines: Mapping[int, str], style: Style, number_width: int) -> list[str]:
    """The lines that hold the marks, in order, each followed by its underlines; `...` stands for lines left
    out. `lines` holds the text by line number; a line that is not in there is left out. `number_width` is the
    room for the line numbers.
    """
    return list(_Drawing(marks, lines, style, number_width).rows())


class _Quoted:
    """A source line as shown, and where its columns are."""

    def __init__(self, text: str, marks: Sequence[Mark], columns: int) -> None:
        shown = cells(text)
        widths = [width(cell) for cell in shown]
        first, last = _window(widths, marks, columns)
        head = _CUT if first > 0 else ""
        tail = _CUT if last < len(shown) else ""
        self.text = head + "".join(shown[first:last]) + tail
        self._offsets = [len(head)]
        for number in range(first, last):
            self._offsets.append(self._offsets[-1] + widths[number])
        self._first = first

    def offset(self, column: int) -> int:
        """Terminal columns before a 1-based column; at the edge for what was cut off."""
        return self._offsets[min(max(column - 1 - self._first, 0), len(self._offsets) - 1)]


def _window(widths: Sequence[int], marks: Sequence[Mark], columns: int) -> tuple[int, int]:
    """The part of a line to show in so many columns: all of it if it is short, else from a little before the
    first mark on (the primary one, if that is on the line).
    """
    if sum(widths) <= columns:
        return 0, len(widths)
    before = min(_BEFORE_MARK, columns // 6)
    chosen = min(marks, key=lambda mark: (not mark.primary, mark.column), default=None)
    start = 0 if chosen is None else max(0, min(chosen.column - 1, len(widths)) - before)
    start = 0 if sum(widths[:start]) <= before else start
    room, end = columns, start
    while end < len(widths) and room >= widths[end]:
        room -= widths[end]
        end += 1
    while end == len(widths) and start > 0 and room >= widths[start - 1]:
        start -= 1
        room -= widths[start]
    return start, end


def _room(columns: int | None, number_width: int, long_marks: int) -> int | None:
    """The columns to the right of the line numbers and of the bars."""
    return None if columns is None else columns - number_width - 3 - 2 * long_marks


class _Drawing:
    def __init__(
        self, marks: Sequence[Mark], lines: Mapping[int, str], style: Style, number_width: int
    ) -> None:
        self._marks = sorted(marks, key=lambda mark: (mark.line, mark.column, not mark.primary))
        self._lines = lines
        self._style = style
        self._number_width = number_width
        # Every long mark has a column of its own at the left, for the bar that joins its two ends.
        self._long = [mark for mark in self._marks if mark.is_long]
        self._open: list[Mark] = []
        self._room = _room(style.columns, number_width, len(self._long))

    def rows(self) -> Iterator[str]:
        before: int | None = None
        for number in self._numbers():
            if before is not None and number > before + 1:
                yield self._row(_CUT, "", bar=False)
            before = number
            yield from self._line(number)

    def _numbers(self) -> list[int]:
        wanted: set[int] = set()
        for mark in self._marks:
            wanted |= {mark.line, mark.end_line}
            if mark.is_long:
                wanted |= {n for n in range(mark.line, mark.end_line) if n in self._lines}
        # A single line between two others takes no more room than the dots that would stand for it.
        wanted |= {n + 1 for n in wanted if n + 2 in wanted}
        return sorted(n for n in wanted if n in self._lines)

    def _line(self, number: int) -> Iterator[str]:
        begin = [mark for mark in self._marks if mark.line == number]
        end = [mark for mark in self._long if mark.end_line == number]
        quoted = _Quoted(self._lines[number], begin + end, self._shown_columns)
        yield self._row(str(number), quoted.text)
        for mark in begin:
            if mark.is_long:
                yield self._join(mark, quoted.offset(mark.column), "")
                self._open.append(mark)
            else:
                yield from self._underline(mark, quoted)
        for mark in end:
            self._open.remove(mark)
            yield from self._close(mark, max(quoted.offset(mark.end_column) - 1, 0))

    @property
    def _shown_columns(self) -> int:
        """The columns for the text of a line, without the dots for what is cut off at both ends."""
        return MAX_COLUMNS if self._room is None else min(MAX_COLUMNS, self._room - 2 * len(_CUT))

    def _underline(self, mark: Mark, quoted: _Quoted) -> Iterator[str]:
        start = quoted.offset(mark.column)
        length = max(quoted.offset(mark.end_column) - start, 1)
        label = printable(mark.label)
        if self._fits(start + length + 1, label):
            words = mark.sign * length + (f" {label}" if label else "")
            yield self._row("", " " * start + self._style.paint(mark.kind, words))
            return
        yield self._row("", " " * start + self._style.paint(mark.kind, mark.sign * length))
        yield from self._label(mark, start)

    def _fits(self, before: int, label: str) -> bool:
        return self._room is None or not label or before + width(label) <= self._room

    def _label(self, mark: Mark, start: int) -> Iterator[str]:
        """A label for which there is no room behind its underline: below it, and as far to the left as need
        be.
        """
        assert self._room is not None
        label = printable(mark.label)
        indent = max(0, min(start, self._room - min(width(label), _LABEL_COLUMNS)))
        for line in fold(label, self._room - indent, 0):
            yield self._row("", " " * indent + self._style.paint(mark.kind, line))

    def _close(self, mark: Mark, offset: int) -> Iterator[str]:
        depth = self._long.index(mark)
        before = 2 * (len(self._long) - depth) + offset + 1
        if self._fits(before, printable(mark.label)):
            yield self._join(mark, offset, mark.label, closing=True)
        else:
            yield self._join(mark, offset, "", closing=True)
            yield from self._label(mark, offset)

    def _join(self, mark: Mark, offset: int, label: str, *, closing: bool = False) -> str:
        """`_____^` from the mark's own bar to its first or its last character."""
        depth = self._long.index(mark)
        left = [*self._bars()[: 2 * depth], self._style.paint(mark.kind, "|") if closing else " "]
        line = "_" * (2 * (len(self._long) - depth) - 1 + offset) + mark.sign
        words = line + (f" {printable(label)}" if label else "")
        return f"{self._frame('')} {''.join(left)}{self._style.paint(mark.kind, words)}"

    def _row(self, number: str, text: str, *, bar: bool = True) -> str:
        row = f"{self._frame(number, bar=bar)} {''.join(self._bars())}{text}"
        return row.rstrip()

    def _bars(self) -> list[str]:
        cells: list[str] = []
        for mark in self._long:
            cells += [self._style.paint(mark.kind, "|") if mark in self._open else " ", " "]
        return cells

    def _frame(self, number: str, *, bar: bool = True) -> str:
        if not bar:
            return self._style.paint("frame", number.ljust(self._number_width + 2))
        return self._style.paint("frame", f"{number:>{self._number_width}} |")
