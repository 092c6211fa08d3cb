"""Source text: decoding, and the map from a syntax tree's positions to places in the file."""

from __future__ import annotations

import ast
import codecs
import io
import re
import tokenize
from functools import cached_property

from relax_lint.results.location import Location
from relax_lint.support.lazy_dataclass import record

# Line ends as Python's tokenizer sees them: a form feed or U+2028 does not end a line.
_LINE_END = re.compile(r"\r\n|\r|\n")


class UndecodableError(ValueError):
    """The bytes are not text in the encoding that they declare."""


@record(frozen=True)
class LineOrigin:
    """Where one line of an embedded text stands in its file: 1-based line, and the column of each character
    (one more than the characters, for the end of the line). In a notebook also the number of the cell, and
    the line in it.
    """

    line: int
    columns: tuple[int, ...]
    cell: int | None = None
    cell_line: int | None = None


@record(frozen=True)
class SourceText:
    """A text and where it comes from. `origins` is None when the text is the whole file."""

    path: str
    content: str
    origins: tuple[LineOrigin, ...] | None = None

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends, as a syntax tree numbers them."""
        return _LINE_END.split(self.content)

    def place(self, line: int, byte_column: int) -> tuple[int, int]:
        """File line and column (1-based, characters) of a syntax tree's line and UTF-8 byte offset."""
        if not 1 <= line <= len(self.lines):
            return max(line, 1), 1
        text = self.lines[line - 1]
        column = byte_column
        if not text.isascii():
            column = len(text.encode()[:byte_column].decode(errors="ignore"))
        return self.at(line, column)

    def at(self, line: int, column: int) -> tuple[int, int]:
        """File line and column of a line of this text and a 0-based character offset in it."""
        if self.origins is None:
            return line, column + 1
        origin = self.origins[min(line, len(self.origins)) - 1]
        return origin.line, origin.columns[min(column, len(origin.columns) - 1)]

    def location(self, node: ast.AST) -> Location:
        """The place of a syntax node."""
        line = getattr(node, "lineno", 1)
        end_line = getattr(node, "end_lineno", None)
        if (
            self.origins is None
            and line == end_line
            and (0 < line <= self._plain_lines or self._is_plain(line))
        ):
            start, end = node.col_offset + 1, node.end_col_offset + 1  # type: ignore[attr-defined]
            return Location(self.path, line, start, line, end)
        start = self.place(line, getattr(node, "col_offset", 0))
        cell = self._cell(line)
        if end_line is None:
            return Location(self.path, *start, *start, *cell)
        end = self.place(end_line, node.end_col_offset)  # type: ignore[attr-defined]
        return Location(self.path, *start, *end, *cell)

    @cached_property
    def _plain_lines(self) -> int:
        """How many lines there are, where each character of the text is one byte: most texts are so."""
        return len(self.lines) if self.content.isascii() else 0

    def _is_plain(self, line: int) -> bool:
        """Whether there is such a line, and each character of it is one byte."""
        return 0 < line <= len(self.lines) and self.lines[line - 1].isascii()

    def point(self, line: int, column: int) -> Location:
        """A place of one character, from a 1-based line and a 0-based character offset."""
        start = self.at(max(line, 1), max(column, 0))
        return Location(self.path, start[0], start[1], start[0], start[1] + 1, *self._cell(max(line, 1)))

    def _cell(self, line: int) -> tuple[int | None, int | None]:
        if self.origins is None:
            return None, None
        origin = self.origins[min(line, len(self.origins)) - 1]
        return origin.cell, origin.cell_line


def decode(data: bytes) -> str:
    """The text of Python source: encoding cookie, byte order mark, UTF-8 otherwise.

    Raises UndecodableError with the reason.
    """
    try:
        encoding = _declared(data)
        text = data.decode(encoding)
    except (SyntaxError, LookupError, UnicodeError) as error:
        raise UndecodableError(str(error)) from error
    if data.startswith(codecs.BOM_UTF8) and text.startswith("\ufeff"):
        text = text[1:]
    if "\0" in text:
        raise UndecodableError("the file contains a NUL byte: not text")
    return text


def encode(text: str) -> bytes:
    """Bytes of which `decode` makes a text of the same lines and columns: in the encoding that the text
    declares, and with a question mark for what that encoding lacks.
    """
    data = text.encode("utf-8", "replace")
    try:
        return text.encode(_declared(data), "replace")
    except (SyntaxError, LookupError, UnicodeError):
        return data


# They are for the names of hosts, and take time with the square of a text's length.
_NOT_FOR_FILES = frozenset({"idna", "punycode"})


def _declared(data: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    if codecs.lookup(encoding).name in _NOT_FOR_FILES:
        raise LookupError(f"{encoding} is not an encoding for files")
    return encoding
