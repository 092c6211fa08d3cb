"""The rest of a text with a syntax error: the block that the error is in is left out, and nothing moves."""

from __future__ import annotations

import re

_DEFINITION = re.compile(r"[ \t]*(?:async[ \t]+def|def|class)\b")
_DECORATOR = re.compile(r"[ \t]*@")


def without_block(lines: list[str], number: int) -> range | None:
    """Leave out, in place, the innermost definition around a line, or the line itself outside of all; the
    lines that were left out, None where there is nothing to leave out. `lines` have their ends.
    """
    found = _block(lines, number - 1)
    if found is None:
        return None
    margin = _indent(lines[found.start])
    for index in found:
        end = lines[index][len(lines[index].rstrip("\r\n")) :]
        lines[index] = (" " * margin + "pass" if index == found.start else "") + end
    return range(found.start + 1, found.stop + 1)


def _block(lines: list[str], at: int) -> range | None:
    """The lines of the definition around a line, by their indents."""
    at = min(at, len(lines) - 1)
    if at < 0:
        return None
    limit = _indent(lines[at]) + 1 if _begins(lines[at]) else _indent_around(lines, at)
    for index in range(at, -1, -1):
        line = lines[index]
        if _begins(line) and _indent(line) < limit:
            return range(_first(lines, index), _last(lines, index, at))
    line = lines[at].strip()
    return None if line in ("", "pass") else range(at, at + 1)


def _begins(line: str) -> bool:
    return _DEFINITION.match(line) is not None or _DECORATOR.match(line) is not None


def _indent_around(lines: list[str], at: int) -> int:
    """The indent of a line, or of the last one above it that holds anything."""
    for index in range(at, -1, -1):
        if lines[index].strip():
            return _indent(lines[index])
    return 0


def _first(lines: list[str], index: int) -> int:
    """The first line of the decorators of a definition."""
    margin = _indent(lines[index])
    while index > 0 and _DECORATOR.match(lines[index - 1]) and _indent(lines[index - 1]) == margin:
        index -= 1
    return index


def _last(lines: list[str], index: int, at: int) -> int:
    """The line behind a definition that holds the line `at`."""
    margin = _indent(lines[index])
    while index < len(lines) and not _DEFINITION.match(lines[index]):
        index += 1
    for later in range(max(index + 1, at + 1), len(lines)):
        text = lines[later].strip()
        closes = text[:1] in (")", "]", "}") or text.startswith(("#", ")"))
        if text and not closes and _indent(lines[later]) <= margin:
            return later
    return len(lines)


def _indent(line: str) -> int:
    return len(line.expandtabs(8)) - len(line.expandtabs(8).lstrip())
