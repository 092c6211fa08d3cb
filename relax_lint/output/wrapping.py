"""Lines broken at the width of the terminal; escape sequences take no room, and paths are never broken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from relax_lint.output.style import width

_ESCAPE = re.compile(r"(\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\)")
_WORDS = re.compile(r" +|[^ ]+")
# What stands before the text of a line: the sign of a fact, the number and sign of a patch, a bullet.
_HEAD = re.compile(r" *(?:= (?:\w+: )?|[0-9]* ?[-+] +|[-*] |[0-9]+\. )?")
# The label of a row in a table.
_LABEL = re.compile(r"  \S(?:\S| (?! ))* {2,}(?=\S)")
_ARROW = re.compile(r" *--> ")


def visible_width(text: str) -> int:
    """Terminal columns of text with escape sequences."""
    return width(_ESCAPE.sub("", text) if "\x1b" in text else text)


def fold_all(lines: Iterable[str], columns: int | None) -> Iterator[str]:
    """Each line, in as many lines as it needs."""
    for line in lines:
        yield from fold(line, columns)


def fold(line: str, columns: int | None, hang: int | None = None) -> list[str]:
    """The line in parts of up to `columns`, broken between words where that is possible. All but the first
    are indented by `hang`, else as the text of the line is.
    """
    if columns is None or visible_width(line) <= columns:
        return [line]
    plain = _ESCAPE.sub("", line)
    if _ARROW.match(plain):
        return [line]
    indent = _hang(plain) if hang is None else hang
    return list(_parts(line, columns, " " * min(indent, columns // 2)))


def _hang(plain: str) -> int:
    found = _LABEL.match(plain) or _HEAD.match(plain)
    return found.end() if found is not None and found.end() else 4


def _parts(line: str, columns: int, margin: str) -> Iterator[str]:
    current, used, blanks = "", 0, ""
    for word in _WORDS.findall(line):
        if word.isspace():
            blanks = word
            continue
        needed = visible_width(word)
        if used + len(blanks) + needed > columns and used > len(margin):
            yield current
            current, used, blanks = margin, len(margin), ""
        current, used = current + blanks, used + len(blanks)
        blanks = ""
        *full, rest = _cut(word, columns - used, columns - len(margin))
        for part in full:
            yield current + part
            current, used = margin, len(margin)
        current, used = current + rest, used + visible_width(rest)
    yield current


def _cut(word: str, first: int, others: int) -> list[str]:
    """A word in parts that fit: the first part into `first` columns, the rest into as many as `others`."""
    parts, room = [""], max(first, 1)
    for piece in _ESCAPE.split(word):
        if piece.startswith("\x1b"):
            parts[-1] += piece
            continue
        for character in piece:
            needed = width(character)
            if needed > room:
                parts.append("")
                room = max(others, 1)
            parts[-1] += character
            room -= needed
    return parts
