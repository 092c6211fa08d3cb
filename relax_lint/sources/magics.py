"""What a cell of a notebook is without its magics, and what becomes of its names."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import replace

from relax_lint.sources.text import LineOrigin
from relax_lint.support.lazy_dataclass import record

Lines = list[tuple[str, LineOrigin]]

_MAGIC = re.compile(r"[ \t]*[%!?]|[ \t]*[\w.*]+\?\??[ \t]*$")
_CELL_MAGIC = re.compile(r"%%([\w.]*)")
# Cells under these are Python, which they run in their own way.
_PYTHON_MAGICS = frozenset(
    ("capture", "debug", "memit", "mprun", "prun", "py", "python", "python3", "time", "timeit")
)
# They make a program or a file of its own of a cell.
_APART = frozenset(("file", "pypy", "pypy3", "python", "python2", "python3", "script", "writefile"))
# It runs a cell, and first what stands behind its options, as a function.
_TIMED = "timeit"
_SETUP = re.compile(r"%%timeit(?:[ \t]+-\w+(?:[ \t]+\d+)?)*[ \t]*")
# The rest of the line is a statement like any other.
_RUNS = re.compile(r"[ \t]*%(?:time|prun|memit)[ \t]+(?!-)")
# They bind names of another file, or of another time.
_BINDS = re.compile(r"[ \t]*%(?:run|store|load|pylab|edit|rerun|recall|macro)\b")
_OTHER_NAMES = "from __another_file__ import *"
# What a name is that gets the output of one: nobody knows before it runs.
_OUTPUT = "get_ipython()"


@record(frozen=True)
class Cell:
    """A cell without its magics. `is_python` where they run it as Python; it `sees` the names of cells before
    it, and `keeps` its own for those behind it.
    """

    lines: Lines
    is_python: bool
    sees: bool
    keeps: bool


def without_magics(lines: Lines) -> Cell:
    """A cell as Python, as far as it is: lines with magics are blanked."""
    lines, magics, at = list(lines), [], _first_of_text(lines, 0)
    while at < len(lines) and (magic := _CELL_MAGIC.match(lines[at][0])) is not None:
        magics.append(magic[1])
        lines[at] = _setup(lines[at]) or blank(lines[at])
        at = _first_of_text(lines, at if not lines[at][0] else at + 1)
    # A line within a statement may begin as a magic does.
    if any(_without_magic(line) != line for line in lines) and not _is_python(lines):
        lines = [_without_magic(line) for line in lines]
    sees = _APART.isdisjoint(magics)
    keeps = sees and _TIMED not in magics
    return Cell(lines, all(magic in _PYTHON_MAGICS for magic in magics), sees, keeps)


def blank(line: tuple[str, LineOrigin]) -> tuple[str, LineOrigin]:
    """An empty line in the place of a line."""
    return "", replace(line[1], columns=line[1].columns[-1:])


def _rest_of(line: tuple[str, LineOrigin], start: int) -> tuple[str, LineOrigin]:
    return line[0][start:], replace(line[1], columns=line[1].columns[start:])


def _setup(line: tuple[str, LineOrigin]) -> tuple[str, LineOrigin] | None:
    """What a cell that is timed begins with."""
    options = _SETUP.match(line[0])
    if options is None or options.end() == len(line[0].rstrip()):
        return None
    rest = _rest_of(line, options.end())
    return rest if _is_python([rest]) else None


def _first_of_text(lines: Lines, at: int) -> int:
    """The number of the first line that is not empty, from one on."""
    while at < len(lines) and not lines[at][0].strip():
        at += 1
    return at


def _is_python(lines: Lines) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(line for line, _ in lines), filename="")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _without_magic(line: tuple[str, LineOrigin]) -> tuple[str, LineOrigin]:
    """A line of shell, magic or help is not Python; nothing in it can define a unit."""
    text, origin = line
    margin = text[: len(text) - len(text.lstrip())]
    if (run := _RUNS.match(text)) is not None and _is_python([_rest_of(line, run.end())]):
        rest, origin = _rest_of(line, run.end())
        return margin + rest, replace(origin, columns=(*line[1].columns[: len(margin)], *origin.columns))
    if _BINDS.match(text):
        return margin + _OTHER_NAMES, origin
    if _MAGIC.match(text):
        return margin + "pass", origin
    name, _, value = text.partition("=")
    return (f"{name}= {_OUTPUT}" if value.lstrip().startswith(("!", "%")) else text), origin
