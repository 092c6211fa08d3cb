"""The ignore comments of a text, found by Python's tokenizer, so that a string is never taken for one."""

from __future__ import annotations

import tokenize
from collections.abc import Callable
from dataclasses import dataclass, field

from relax_lint.results.location import Location
from relax_lint.sources.ignore_comment import MARK, Directive, IgnoreComment, directives
from relax_lint.sources.text import SourceText

_NO_STATEMENT = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER)


def read_comments(text: SourceText) -> tuple[IgnoreComment, ...]:
    """The ignore comments, in order; of a text that does not tokenize, those before the error."""
    if MARK.decode() not in text.content:
        return ()
    comments, _ = _read(text)
    return tuple(
        _placed(found, directive, text)
        for found in comments
        for directive in directives(found.token)
        # Code that is commented out is no code, and neither is what it says of itself.
        if not (found.own_line and directive.start > 0)
    )


def read_statements(text: SourceText) -> list[tuple[int, int]]:
    """The first and the last row (1-based) of every statement of a text, or of its head if it has a body.

    Of a text that does not tokenize, those before the error.
    """
    return _read(text)[1]


@dataclass
class _Comment:
    """A comment, at a row (1-based) and column (0-based), and the rows of the statement that it is about."""

    token: str
    row: int
    column: int
    own_line: bool
    first_row: int = 0
    last_row: int = 0


@dataclass
class _Statements:
    """Where the statements are, as far as the tokens have been read."""

    first_row: int | None = None
    rows: list[tuple[int, int]] = field(default_factory=list)
    inside: list[_Comment] = field(default_factory=list)
    above: list[_Comment] = field(default_factory=list)

    def end(self, row: int) -> None:
        """A statement ends in a row."""
        for found in (*self.above, *self.inside):
            found.first_row = self.first_row or row
            found.last_row = row
        self.rows.append((self.first_row or row, row))
        self.first_row = None
        self.inside, self.above = [], []


def _read(text: SourceText) -> tuple[list[_Comment], list[tuple[int, int]]]:
    comments: list[_Comment] = []
    statements = _Statements()
    row = 1
    try:
        for token in tokenize.generate_tokens(_reader(text)):
            row = token.start[0]
            if token.type == tokenize.COMMENT:
                own_line = text.lines[row - 1][: token.start[1]].strip() == ""
                found = _Comment(token.string, row, token.start[1], own_line, row, row)
                comments.append(found)
                outside = own_line and statements.first_row is None
                (statements.above if outside else statements.inside).append(found)
            elif token.type == tokenize.NEWLINE:
                statements.end(row)
            elif token.type not in _NO_STATEMENT and statements.first_row is None:
                statements.first_row = row
    except (tokenize.TokenError, SyntaxError):
        statements.end(row)
    return comments, statements.rows


def _reader(text: SourceText) -> Callable[[], str]:
    # The rows are to be those of the syntax tree, whatever the ends of lines are.
    return iter([line + "\n" for line in text.lines]).__next__


def _placed(found: _Comment, directive: Directive, text: SourceText) -> IgnoreComment:
    row, start, end = found.row, found.column + directive.start, found.column + directive.end
    location = _range(text, row, start, row, end)
    last = text.lines[found.last_row - 1]
    scope = _range(text, found.first_row, 0, found.last_row, len(last))
    return IgnoreComment(
        location=location,
        scope=None if directive.whole_file else scope,
        rules=directive.rules,
        reason=directive.reason,
        problem=directive.problem,
        removal=_removal(found, row, start, end, text),
    )


def _removal(found: _Comment, row: int, start: int, end: int, text: SourceText) -> Location | None:
    if text.origins is not None:
        return None
    line = text.lines[row - 1]
    rest = line[end:]
    if rest.strip():
        return _range(text, row, start, row, end + len(rest) - len(rest.lstrip()))
    if found.own_line and row < len(text.lines):
        return _range(text, row, 0, row + 1, 0)
    return _range(text, row, len(line[:start].rstrip()), row, len(line))


def _range(text: SourceText, first_row: int, first: int, last_row: int, last: int) -> Location:
    return Location(text.path, *text.at(first_row, first), *text.at(last_row, last))
