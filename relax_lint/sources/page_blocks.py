"""Where a page of Markdown shows code: between fences, in the colons of a directive, between `<pre>` and
`</pre>`, and indented.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from typing import TypeAlias

from relax_lint.sources.text import LineOrigin

Lines: TypeAlias = list[tuple[str, LineOrigin]]

# The inline code of a paragraph may begin as a fence does, and has backticks again on its line.
_FENCE = re.compile(
    r"(?P<indent>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t][ \t>]*)?)(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)"
)
_COLONS = re.compile(r"(?P<indent>[ \t>]*)(?P<fence>:{3,})(?P<info>[ \t]*\{.*)")
_PRE = re.compile(
    r"(?P<indent>[ \t>]*)(?P<fence><pre\b[^>]*>[ \t]*(?:<code\b[^>]*>)?)(?P<info>.*)", re.IGNORECASE
)
_END_OF_PRE = re.compile(r"</(?:code|pre)>", re.IGNORECASE)
_ESCAPED = re.compile(r"&(?:lt|gt|amp|quot|#39|#x27);")
_INDENTED = re.compile(r"(?: {4}|\t)")
_MODULE = re.compile(r"^[ \t]*@\s*[\w.]*\b(?:ir_module|(?:R|relax)\.function)\b", re.MULTILINE)


def blocks(content: str, is_python: Callable[[str], bool]) -> Iterator[tuple[str, Lines]]:
    """The mark and the lines of each block. Colons begin one only where their mark `is_python`: notes and
    tabs have them too, with fences inside. What is indented, or between `<pre>` and `</pre>`, has no mark,
    and counts where it decorates a module or a function: all kinds of text stand there.
    """
    lines = re.split(r"\r\n|\r|\n", content)
    at, is_blank = 0, True
    while at < len(lines):
        line = lines[at]
        if (match := _FENCE.match(line)) is not None or (
            (match := _COLONS.match(line)) is not None and is_python(match["info"])
        ):
            block, at = _fenced(lines, at + 1, match)
            if block:
                yield match["info"], block
        elif (match := _PRE.match(line)) is not None:
            block, at = _between_tags(lines, at, match)
            if _MODULE.search(_text(block)):
                yield "", block
        elif is_blank and _INDENTED.match(line):
            block, at = _indented(lines, at)
            if _MODULE.search(_text(block)):
                yield "", block
        else:
            at += 1
        is_blank = not lines[at - 1].strip()


def _text(block: Lines) -> str:
    return "\n".join(line for line, _ in block)


def _fenced(lines: list[str], at: int, opened: re.Match[str]) -> tuple[Lines, int]:
    """The lines up to the fence that closes one, or all; and where it goes on."""
    block: Lines = []
    fence = opened["fence"]
    for number in range(at, len(lines)):
        line = lines[number]
        mark = line.strip(" \t>")
        if mark.startswith(fence) and set(mark) == {fence[0]}:
            return block, number + 1
        indent = len(opened["indent"]) if line[: len(opened["indent"])].strip(" \t>") == "" else 0
        block.append((line[indent:], straight(number + 1, indent, line)))
    return block, len(lines)


def _between_tags(lines: list[str], at: int, opened: re.Match[str]) -> tuple[Lines, int]:
    """The lines between the tags; what is beside the first one counts."""
    block: Lines = []
    for number in range(at, len(lines)):
        line, start = lines[number], opened.end("fence") if number == at else 0
        closing = _END_OF_PRE.search(line, start)
        if line[start:].strip() or number > at:
            end = len(line) if closing is None else closing.start()
            block.append(_unescaped(line[start:end], straight(number + 1, start, line[:end])))
        if closing is not None:
            return block, number + 1
    return block, len(lines)


def _unescaped(line: str, origin: LineOrigin) -> tuple[str, LineOrigin]:
    """A line with characters in the place of `&gt;` and its like."""
    pieces, columns, at = list[str](), list[int](), 0
    for match in _ESCAPED.finditer(line):
        pieces += line[at : match.start()], unescape(match[0])
        columns += origin.columns[at : match.start() + 1]
        at = match.end()
    return "".join((*pieces, line[at:])), replace(origin, columns=(*columns, *origin.columns[at:]))


def _indented(lines: list[str], at: int) -> tuple[Lines, int]:
    """The lines that are indented, and empty ones between them."""
    block: Lines = []
    for number in range(at, len(lines)):
        line = lines[number]
        match = _INDENTED.match(line)
        if (match is None and line.strip()) or _FENCE.match(line):
            return block, number
        indent = min(len(line), 0 if match is None else match.end())
        block.append((line[indent:], straight(number + 1, indent, line)))
    return block, len(lines)


def straight(number: int, indent: int, line: str) -> LineOrigin:
    """Where a line without its first `indent` characters is."""
    # An empty line of a block that is indented is shorter than the indent.
    return LineOrigin(number, tuple(range(min(indent, len(line)) + 1, len(line) + 2)))
