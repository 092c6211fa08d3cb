"""From the bytes of an input to its units. No TVM, no execution."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from bisect import bisect_right
from collections.abc import Iterable

from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.sources.dialects.symbols import quote_symbols
from relax_lint.sources.embedded import MalformedError, joined, literal_text, markdown_blocks, notebook_cells
from relax_lint.sources.finder import find_literals, find_units
from relax_lint.sources.ignore_comment import IgnoreComment
from relax_lint.sources.ignore_comments import read_comments
from relax_lint.sources.literal import with_printable_numbers
from relax_lint.sources.prefilter import may_contain_relax
from relax_lint.sources.text import SourceText, UndecodableError, decode
from relax_lint.sources.unit import FileUnits, Unit

# `def main[n](x)`: the type parameters of Python 3.12, which TVM 0.27 prints there.
_TYPE_PARAMETERS = re.compile(r"^([ \t]*def[ \t]+(\w+)[ \t]*)\[([\w:, \t]*)\](?=[ \t]*\()", re.MULTILINE)

# A walk over a large tree costs more than this search.
_GIVES_LITERALS = re.compile(r"\bfrom_source\b|\bparse\b")
# What the tree of a text takes at most, measured, by character of the text.
_TREE_BYTES = 600


def read_units(data: bytes, path: str, kind: str = "python") -> FileUnits:
    """The units of one input: `kind` is python, notebook or markdown. `path` is the path to show.

    An input without Relax gives nothing at all.
    """
    if not may_contain_relax(data):
        return FileUnits()
    try:
        content = decode(data) if kind == "python" else data.decode("utf-8-sig")
    except (UndecodableError, UnicodeDecodeError) as error:
        return FileUnits(problems=(_at_start(path, f"not readable as text: {error}"),))
    if kind == "markdown":
        return _merged(read_text(block) for block in markdown_blocks(path, content) if _holds_relax(block))
    if kind == "notebook":
        return _read_notebook(path, content)
    return read_text(SourceText(path, content))


def read_text(text: SourceText) -> FileUnits:
    """The units of one Python text, those in literals that it gives to TVM's parser included."""
    tree = parse_text(text)
    comments = read_comments(text)
    if isinstance(tree, Problem):
        return FileUnits(problems=(tree,), comments=comments)
    try:
        found = FileUnits(tuple(find_units(tree, text)), comments=comments)
        nodes = find_literals(tree) if _GIVES_LITERALS.search(text.content) else []
        literals = [literal_text(text, node) for node in nodes]
    except RecursionError:
        return FileUnits(problems=(_at_start(text.path, "nested too deeply to be read"),), comments=comments)
    return _merged([found, *(read_text(literal) for literal in literals if _holds_relax(literal))])


def parse_text(text: SourceText) -> ast.Module | Problem:
    """The syntax tree of a text, or RLX901 with the place of the error. Raises MemoryError."""
    content = text.content
    parameters: dict[tuple[int, str], set[str]] = {}
    if sys.version_info < (3, 12):
        content, parameters = _without_type_parameters(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Of a text with an error Python looks for the file, to quote the line: there must be none.
            tree = with_printable_numbers(ast.parse(content, filename=""), content)
    except SyntaxError as error:
        location = text.point(error.lineno or 1, (error.offset or 1) - 1)
        return Problem(ProblemKind.PARSE_ERROR, f"syntax error: {error.msg}", location)
    except RecursionError:
        return _at_start(text.path, "nested too deeply to be read")
    except MemoryError as error:
        if _is_shortage(error, content):
            raise
        return _at_start(text.path, "nested too deeply to be read")
    except ValueError as error:
        return _at_start(text.path, f"cannot be read as Python: {error}")
    if parameters:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (node.lineno, node.name) in parameters:
                quote_symbols(node, parameters[node.lineno, node.name])
    return tree


def _is_shortage(error: MemoryError, content: str) -> bool:
    """Whether memory ran out. Python's parser raises the same error where a text is nested too deeply, and
    says so from 3.12 on; before, a text is assumed to be at fault where there is memory enough for its tree.
    """
    if sys.version_info >= (3, 12):
        return not str(error).startswith("Parser stack overflow")
    try:
        # Zeros from the system, which nobody touches.
        bytes(_TREE_BYTES * len(content))
    except MemoryError:
        return True
    return False


def _without_type_parameters(content: str) -> tuple[str, dict[tuple[int, str], set[str]]]:
    """The text with type parameters blanked, so that nothing moves, and the names by line and function."""
    found: dict[tuple[int, str], set[str]] = {}
    ends = [match.end() for match in re.finditer(r"\r\n|\r|\n", content)]

    def blank(match: re.Match[str]) -> str:
        names = {part.split(":")[0].strip() for part in match[3].split(",")}
        found[bisect_right(ends, match.start(2)) + 1, match[2]] = names - {""}
        return match[1] + " " * (len(match[3]) + 2)

    return _TYPE_PARAMETERS.sub(blank, content), found


def _read_notebook(path: str, content: str) -> FileUnits:
    """The cells of a notebook are one program: what does not parse is left out and, if Relax, reported."""
    try:
        cells = notebook_cells(path, content)
    except MalformedError as error:
        location = SourceText(path, content).point(error.line, error.column - 1)
        return FileUnits(problems=(Problem(ProblemKind.PARSE_ERROR, str(error), location),))
    readable, problems = [], []
    for cell in cells:
        tree = parse_text(cell)
        if not isinstance(tree, Problem):
            readable.append(cell)
        elif _holds_relax(cell):
            problems.append(tree)
    found = read_text(joined(path, readable)) if readable else FileUnits()
    return FileUnits(found.units, (*problems, *found.problems), found.comments)


def _holds_relax(text: SourceText) -> bool:
    return may_contain_relax(text.content.encode(errors="replace"))


def _merged(parts: Iterable[FileUnits]) -> FileUnits:
    units: list[Unit] = []
    problems: list[Problem] = []
    comments: list[IgnoreComment] = []
    for part in parts:
        units += part.units
        problems += part.problems
        comments += part.comments
    return FileUnits(tuple(units), tuple(problems), tuple(comments))


def _at_start(path: str, message: str) -> Problem:
    return Problem(ProblemKind.PARSE_ERROR, message, SourceText(path, "").point(1, 0))
