"""Python inside other files: fenced blocks of Markdown, notebook cells, literals given to `from_source`."""

from __future__ import annotations

import ast
import json
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from relax_lint.sources.literal import LONG_NUMBER
from relax_lint.sources.page_blocks import blocks
from relax_lint.sources.text import LineOrigin, SourceText
from relax_lint.support.lazy_dataclass import record

_LANGUAGE = re.compile(r"[ \t]*([\w+-]*)")
# `{python}`, `{.python .numbered}`, `{code-cell} ipython3`.
_BRACED = re.compile(r"[ \t]*\{[ \t]*\.?([\w+-]*)[^}]*\}?[ \t]*([\w+-]*)")
_PYTHON = frozenset(
    (
        *("", "ipython", "ipython3", "jupyter", "py", "py3", "pycon", "python", "python-repl", "python3"),
        *("relax", "tirx", "tvm", "tvmscript"),
    )
)
_PYTHON_DIRECTIVES = frozenset(("code-cell", "doctest", "jupyter-execute", "testcode", "testsetup"))
_CODE_DIRECTIVES = frozenset(("code", "code-block", "code-cell", "sourcecode"))
# They do not say that all of it is Python.
_UNSURE = frozenset(("", "ipython", "jupyter", "pycon", "python-repl", "relax", "tirx", "tvm"))
_DIRECTIVE_OPTION = re.compile(r"[ \t]*:[\w-]+:")
_PROMPT = re.compile(r"[ \t]*>>> ")
_TRACEBACK = re.compile(r"^[ \t]*(?:\S+ +)?Traceback \(most recent call last\)", re.MULTILINE)
_DECORATED = re.compile(r"^[ \t]*@\s*[\w.]*\b(?:ir_module|function)\b", re.MULTILINE)
_MAGIC = re.compile(r"[ \t]*[%!?]|[ \t]*[\w.*]+\?\??[ \t]*$")
_RUN = re.compile(r"[ \t]*%run\b")
_CELL_MAGIC = re.compile(r"%%([\w.]*)")
# Cells under these are Python, which they run in their own way.
_PYTHON_MAGICS = frozenset(
    ("capture", "debug", "memit", "mprun", "prun", "py", "python", "python3", "time", "timeit")
)
# One character of a JSON string as it is written: a surrogate pair is one character.
_JSON_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)


class MalformedError(ValueError):
    """The file around the Python text is not what its name says; `line` and `column` are 1-based."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@record(frozen=True)
class Part:
    """A fenced block of a page or a cell of a notebook. `is_python` where its mark says so or it looks like a
    module; any other counts if it is Python all the same.
    """

    text: SourceText
    is_python: bool


def markdown_blocks(path: str, content: str) -> Iterator[Part]:
    """The blocks of code that are marked as Python or not marked at all, without prompts."""
    for info, block in blocks(content, lambda mark: _language(mark) in _PYTHON):
        language = _language(info)
        if language not in _PYTHON:
            continue
        text = _assembled(path, _without_prompts(_without_options(info, block)))
        is_named = language not in _UNSURE or _DECORATED.search(text.content) is not None
        yield Part(text, is_named and _TRACEBACK.search(text.content) is None)


def _language(info: str) -> str:
    """What the mark of a fence says that it holds; `python` where a directive leaves it at that."""
    braced = _BRACED.match(info)
    if braced is None:
        plain = _LANGUAGE.match(info)
        return "" if plain is None else plain[1].lower()
    name, argument = braced[1].lower(), braced[2].lower()
    if name in _CODE_DIRECTIVES and argument:
        return argument
    return "python" if name in _PYTHON_DIRECTIVES else "" if name in _CODE_DIRECTIVES else name


_Lines = list[tuple[str, LineOrigin]]


def _without_options(info: str, block: _Lines) -> _Lines:
    """A block without the options of its directive: `:tags: [hide]`, or a few lines between `---`."""
    if not info.lstrip(" \t").startswith("{") or not block:
        return block
    if block[0][0].strip() == "---":
        ends = (at for at, (line, _) in enumerate(block) if at and line.strip() == "---")
        count = next(ends, -1) + 1
    else:
        others = (at for at, (line, _) in enumerate(block) if not _DIRECTIVE_OPTION.match(line))
        count = next(others, len(block))
    return [*map(_blank, block[:count]), *block[count:]]


def _blank(line: tuple[str, LineOrigin]) -> tuple[str, LineOrigin]:
    return "", replace(line[1], columns=line[1].columns[-1:])


def _without_prompts(block: _Lines) -> _Lines:
    """What was typed in a session of Python: what it answered is left out."""
    prompts = (match for line, _ in block if (match := _PROMPT.match(line)) is not None)
    first = next(prompts, None)
    if first is None:
        return block
    margin, typed = len(first[0]) - 4, []
    for line, origin in block:
        if line[margin:].startswith((">>> ", "... ")) and not line[:margin].strip():
            typed.append((line[margin + 4 :], replace(origin, columns=origin.columns[margin + 4 :])))
        else:
            typed.append(_blank((line, origin)))
    return typed


def notebook_cells(path: str, content: str) -> list[Part]:
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
            if lines:
                found.append(_cell(path, lines))
    return found


def _cell(path: str, lines: _Lines) -> Part:
    """A cell as Python, without its magics."""
    magics, at = [], _first_of_text(lines, 0)
    while at < len(lines) and (magic := _CELL_MAGIC.match(lines[at][0])) is not None:
        magics.append(magic[1])
        lines[at] = _blank(lines[at])
        at = _first_of_text(lines, at)
    text = _assembled(path, lines)
    # A line within a statement may begin as a magic does.
    if any(_without_magic(line) != line for line, _ in lines) and not _is_python(text.content):
        text = _assembled(path, [(_without_magic(line), origin) for line, origin in lines])
    return Part(text, all(magic in _PYTHON_MAGICS for magic in magics))


def _first_of_text(lines: _Lines, at: int) -> int:
    """The number of the first line that is not empty, from one on."""
    while at < len(lines) and not lines[at][0].strip():
        at += 1
    return at


def _is_python(content: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(content, filename="")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


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
                yield line, LineOrigin(number, tuple(columns))
                line, columns = "", []
            else:
                line += character
    if line:
        yield line, LineOrigin(number, (*columns, columns[-1] + 1))


def _row(starts: list[int], offset: int) -> int:
    low, high = 0, len(starts)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if starts[middle] <= offset else (low, middle)
    return low


def _without_magic(line: str) -> str:
    """A line of shell, magic or help is not Python; nothing in it can define a unit. `%run` binds the names
    of another file.
    """
    if _RUN.match(line):
        return line[: len(line) - len(line.lstrip())] + "from run import *"
    if _MAGIC.match(line):
        return line[: len(line) - len(line.lstrip())] + "pass"
    name, _, value = line.partition("=")
    return f"{name}= None" if value.lstrip().startswith(("!", "%")) else line
