"""Python inside other files: fenced blocks of Markdown, notebook cells, literals given to `from_source`."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from relax_lint.sources.literal import LONG_NUMBER
from relax_lint.sources.text import LineOrigin, SourceText
from relax_lint.support.lazy_dataclass import record

_FENCE = re.compile(r"(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,})[ \t]*\{?\.?(?P<info>[\w+-]*)")
_PYTHON = frozenset({"", "py", "python", "python3", "tvmscript", "ipython", "pycon"})
_TRACEBACK = re.compile(r"^[ \t]*(?:\S+ +)?Traceback \(most recent call last\)", re.MULTILINE)
_DECORATED = re.compile(r"^[ \t]*@\s*[\w.]*\b(?:ir_module|function)\b", re.MULTILINE)
_MAGIC = re.compile(r"[ \t]*[%!?]")
# One character of a JSON string as it is written: a surrogate pair is one character.
_JSON_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)


class MalformedError(ValueError):
    """The file around the Python text is not what its name says; `line` and `column` are 1-based."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@record(frozen=True)
class Fence:
    """A fenced block of a page. `is_python` where its mark says so, or where it looks like a module."""

    text: SourceText
    is_python: bool


def markdown_blocks(path: str, content: str) -> Iterator[Fence]:
    """The fenced blocks that are marked as Python or not marked at all, without prompts and tracebacks."""
    for info, block in _fences(content):
        lines = _without_prompts(block)
        text = _assembled(path, lines)
        if _TRACEBACK.search(text.content) is None:
            is_marked = info not in ("", "pycon", "ipython")
            yield Fence(text, is_marked or _DECORATED.search(text.content) is not None)


def _without_prompts(block: list[tuple[str, LineOrigin]]) -> list[tuple[str, LineOrigin]]:
    """What was typed in a session of Python: what it answered is left out."""
    if not any(line.startswith(">>> ") for line, _ in block):
        return block
    typed: list[tuple[str, LineOrigin]] = []
    for line, origin in block:
        is_typed = line.startswith((">>> ", "... "))
        columns = origin.columns[4:] if is_typed else origin.columns[-1:]
        typed.append((line[4:] if is_typed else "", replace(origin, columns=columns)))
    return typed


def _fences(content: str) -> Iterator[tuple[str, list[tuple[str, LineOrigin]]]]:
    opened: re.Match[str] | None = None
    block: list[tuple[str, LineOrigin]] = []
    for number, line in enumerate(re.split(r"\r\n|\r|\n", content), start=1):
        match = _FENCE.match(line)
        if opened is None:
            if match is not None:
                opened, block = match, []
            continue
        closes = match is not None and not match["info"] and line.strip(" \t>`~") == ""
        if closes and match is not None and match["fence"].startswith(opened["fence"]):
            if opened["info"].lower() in _PYTHON and block:
                yield opened["info"].lower(), block
            opened = None
            continue
        indent = len(opened["indent"]) if line[: len(opened["indent"])].strip(" \t>") == "" else 0
        block.append((line[indent:], _straight(number, indent, line)))
    if opened is not None and opened["info"].lower() in _PYTHON and block:
        yield opened["info"].lower(), block


def notebook_cells(path: str, content: str) -> list[SourceText]:
    """The code cells, with places in the JSON text. Lines with magics are blanked.

    Raises MalformedError where the file is no notebook.
    """
    try:
        json.loads(content)
        notebook = _Spans(content).value(0)[0]
    except json.JSONDecodeError as error:
        raise MalformedError(f"not complete JSON: {error.msg}", error.lineno, error.colno) from error
    except RecursionError as error:
        raise MalformedError("JSON nested too deeply to be read") from error
    except ValueError as error:
        raise MalformedError(LONG_NUMBER) from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise MalformedError("not a notebook: no list of cells")
    starts = [0, *(match.end() for match in re.finditer("\n", content))]
    found = []
    for number, cell in enumerate(cells, start=1):
        if isinstance(cell, dict) and _spelled(cell.get("cell_type"), content) == "code":
            lines = [
                (line, replace(origin, cell=number, cell_line=index))
                for index, (line, origin) in enumerate(
                    _cell_lines(cell.get("source"), content, starts), start=1
                )
            ]
            if lines and not lines[0][0].startswith("%%"):
                found.append(_assembled(path, lines))
    return found


def joined(path: str, parts: Sequence[SourceText]) -> SourceText:
    """Several embedded texts as one, in order: later cells see the names of earlier ones."""
    lines: list[tuple[str, LineOrigin]] = []
    for part in parts:
        lines += zip(part.lines, part.origins or (), strict=True)
    return _assembled(path, lines)


def literal_text(text: SourceText, node: ast.Constant) -> SourceText:
    """The contents of a string literal as a text of its own, dedented, with places in its file.

    A literal with escapes keeps its lines where it has them, else all of it is at the place of the literal.
    """
    value = str(node.value)
    first = text.lines[node.lineno - 1]
    column = len(first.encode()[: node.col_offset].decode(errors="ignore"))
    opening = re.match(r"[rRuU]?(\"\"\"|'''|\"|')", first[column:])
    lines = value.split("\n")
    plain = opening is not None and _stands_there(text, node, column + opening.end(), lines)
    margin = _margin(lines)
    assembled = []
    for index, line in enumerate(lines):
        cut = margin if line[:margin].strip() == "" else 0
        if plain and opening is not None:
            start = column + opening.end() if index == 0 else 0
            columns = [
                text.at(node.lineno + index, start + offset)[1] for offset in range(cut, len(line) + 1)
            ]
            origin = LineOrigin(text.at(node.lineno + index, start)[0], tuple(columns) or (1,))
            origin = _in_cell(text, node.lineno + index, origin)
        else:
            place = text.at(node.lineno, column)
            origin = _in_cell(text, node.lineno, LineOrigin(place[0], (place[1],)))
        assembled.append((line[cut:], origin))
    return _assembled(text.path, assembled)


def _in_cell(text: SourceText, line: int, origin: LineOrigin) -> LineOrigin:
    if text.origins is None:
        return origin
    around = text.origins[min(line, len(text.origins)) - 1]
    return replace(origin, cell=around.cell, cell_line=around.cell_line)


def _stands_there(text: SourceText, node: ast.Constant, column: int, lines: list[str]) -> bool:
    for index, line in enumerate(lines):
        number = node.lineno - 1 + index
        if number >= len(text.lines) or not text.lines[number][column if index == 0 else 0 :].startswith(
            line
        ):
            return False
    return True


def _margin(lines: list[str]) -> int:
    rest = textwrap.dedent("\n".join(lines)).split("\n")
    return max((len(old) - len(new) for old, new in zip(lines, rest, strict=True) if new.strip()), default=0)


def _straight(number: int, indent: int, line: str) -> LineOrigin:
    # An empty line of a block that is indented is shorter than the indent.
    return LineOrigin(number, tuple(range(min(indent, len(line)) + 1, len(line) + 2)))


def _assembled(path: str, lines: Sequence[tuple[str, LineOrigin]]) -> SourceText:
    # A carriage return within a line would start another line, whose position is unknown.
    texts = (line.removesuffix("\r").replace("\r", " ") for line, _ in lines)
    return SourceText(path, "\n".join(texts), tuple(origin for _, origin in lines))


class _Spans:
    """JSON whose strings are replaced by the (start, end) of their contents in the text."""

    def __init__(self, content: str) -> None:
        self.content = content
        self.space = re.compile(r"[ \t\r\n]*")
        self.string = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
        self.other = re.compile(r"[^\s,\]}]+")

    def value(self, at: int) -> tuple[Any, int]:
        at = self.skip(at)
        if self.content[at] == "{":
            return self.items(at, "}")
        if self.content[at] == "[":
            return self.items(at, "]")
        match = self.string.match(self.content, at)
        if match is not None:
            return match.span(1), match.end()
        other = self.other.match(self.content, at)
        return None, other.end() if other is not None else at + 1

    def items(self, at: int, end: str) -> tuple[Any, int]:
        found: dict[str, Any] = {}
        listed: list[Any] = []
        at = self.skip(at + 1)
        while self.content[at] != end:
            value, at = self.value(at)
            if end == "}":
                name = _unescaped(self.content[slice(*value)])
                value, at = self.value(self.skip(at) + 1)
                found[name] = value
            else:
                listed.append(value)
            at = self.skip(at)
            if self.content[at] == ",":
                at = self.skip(at + 1)
        return (found if end == "}" else listed), at + 1

    def skip(self, at: int) -> int:
        match = self.space.match(self.content, at)
        return match.end() if match is not None else at


def _spelled(span: Any, content: str) -> str | None:
    return _unescaped(content[slice(*span)]) if isinstance(span, tuple) else None


def _unescaped(string: str) -> str:
    return str(json.loads(f'"{string}"')) if "\\" in string else string


def _cell_lines(source: Any, content: str, starts: list[int]) -> Iterator[tuple[str, LineOrigin]]:
    spans = source if isinstance(source, list) else [source]
    line = ""
    columns: list[int] = []
    number = 0
    for span in spans:
        if not isinstance(span, tuple):
            continue
        row = _row(starts, span[0])
        for match in _JSON_CHARACTER.finditer(content, *span):
            character = json.loads(f'"{match[0]}"')
            column = match.start() - starts[row] + 1
            if not columns:
                number = row + 1
            columns.append(column)
            if character == "\n":
                yield _without_magic(line), LineOrigin(number, tuple(columns))
                line, columns = "", []
            else:
                line += character
    if line:
        yield _without_magic(line), LineOrigin(number, (*columns, columns[-1] + 1))


def _row(starts: list[int], offset: int) -> int:
    low, high = 0, len(starts)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if starts[middle] <= offset else (low, middle)
    return low


def _without_magic(line: str) -> str:
    """A line of shell or magic is not Python; nothing in it can define a unit."""
    if line.startswith("%%") or not _MAGIC.match(line):
        return line
    return line[: len(line) - len(line.lstrip())] + "pass"
