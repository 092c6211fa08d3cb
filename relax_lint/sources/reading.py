"""From the bytes of an input to its units. No TVM, no execution."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace

from relax_lint.results.location import Location
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.sources.broken import without_block
from relax_lint.sources.embedded import (
    MalformedError,
    Part,
    joined,
    literal_text,
    markdown_blocks,
    notebook_cells,
)
from relax_lint.sources.finder import find_units
from relax_lint.sources.ignore_comment import IgnoreComment
from relax_lint.sources.ignore_comments import read_comments
from relax_lint.sources.literal import with_printable_numbers
from relax_lint.sources.literal_programs import Literals, find_literals
from relax_lint.sources.newer_python import with_symbols, without_later_syntax
from relax_lint.sources.prefilter import json_kind, may_contain_relax, test_of
from relax_lint.sources.spelling import wide_encoding
from relax_lint.sources.text import SourceText, UndecodableError, decode
from relax_lint.sources.unit import FileUnits, Imported, Unit

_NAMED_OTHERWISE = {
    "json": "looks like what `tvm.ir.save_json` writes, under a name that does not end in `.json`",
    "notebook": "looks like a notebook, under a name that does not end in `.ipynb`",
}
_IN_ORDER = "the cells are run from top to bottom, and not as they are numbered"
_PUT_TOGETHER = "a part of a text for TVM's script parser, and what becomes of it is unknown"
# A walk over a large tree costs more than this search.
_GIVES_LITERALS = re.compile(r"\bfrom_source\b|\bparse\b|\bexec\b|\bcompile\b")
# How many definitions with errors are left out of a text, and which text is too long for more than one.
_MOST_ERRORS = 20
_LARGE = 1 << 20
# What the tree of a text takes at most, measured, by character of the text.
_TREE_BYTES = 600


def read_units(data: bytes, path: str, kind: str = "python") -> FileUnits:
    """The units of one input: `kind` is python, notebook or markdown. `path` is the path to show.

    An input without Relax gives nothing at all.
    """
    may_matter = test_of(kind, named=True)
    if may_matter is not None and not may_matter(data):
        return FileUnits()
    try:
        if kind == "python" and not path.endswith(".py") and (meant := json_kind(data)) is not None:
            return FileUnits(problems=(_at_start(path, _NAMED_OTHERWISE[meant]),))
        if (encoding := wide_encoding(data)) is not None:
            raise UndecodableError(f"{encoding.upper()}, and Python reads UTF-8")
        content = decode(data) if kind == "python" else data.decode("utf-8-sig")
    except (UndecodableError, UnicodeDecodeError) as error:
        return FileUnits(problems=(_at_start(path, f"not readable as text: {error}"),))
    if kind == "markdown":
        return _read_markdown(path, content)
    if kind == "notebook":
        return _read_notebook(path, content)
    return read_text(SourceText(path, content))


def read_text(text: SourceText) -> FileUnits:
    """The units of one Python text, those in literals that it gives to TVM's parser included."""
    tree = parse_text(text)
    comments = read_comments(text)
    problems: tuple[Problem, ...] = ()
    lost: tuple[range, ...] = ()
    if isinstance(tree, Problem):
        rest = _rest_of(text, tree)
        if rest is None:
            return FileUnits(problems=(tree,), comments=comments)
        tree, problems, lost = rest
    try:
        there = find_units(tree, text)
        units = tuple([_damaged(unit, lost) for unit in there.units])
        found = FileUnits(units, (*problems, *there.problems), comments, there.meant_to_fail)
        given = find_literals(tree) if _GIVES_LITERALS.search(text.content) else Literals()
        literals = [(literal_text(text, node), assumed) for node, assumed in given.read.items()]
    except RecursionError:
        return FileUnits(problems=(_at_start(text.path, "nested too deeply to be read"),), comments=comments)
    unread = tuple([_put_together(text.location(node)) for node in given.unread])
    found = replace(found, problems=(*found.problems, *unread))
    return _merged([found, *(_given(*literal) for literal in literals if _holds_relax(literal[0]))])


def _given(text: SourceText, assumptions: tuple[str, ...]) -> FileUnits:
    """The units of a text that a file gives to TVM's parser."""
    found = read_text(text)
    if not assumptions:
        return found
    units = [replace(unit, assumptions=(*assumptions, *unit.assumptions)) for unit in found.units]
    return replace(found, units=tuple(units))


def parse_text(text: SourceText) -> ast.Module | Problem:
    """The syntax tree of a text, or RLX901 with the place of the error. Raises MemoryError."""
    content, declared = without_later_syntax(text.content)
    try:
        tree = _python(content)
    except SyntaxError as error:
        return Problem(ProblemKind.PARSE_ERROR, f"syntax error: {error.msg}", _place_of(error, text))
    except RecursionError:
        return _at_start(text.path, "nested too deeply to be read")
    except MemoryError as error:
        if _is_shortage(error, content):
            raise
        return _at_start(text.path, "nested too deeply to be read")
    except ValueError as error:
        return _at_start(text.path, f"cannot be read as Python: {error}")
    return with_symbols(tree, declared)


def _put_together(location: Location) -> Problem:
    """What is said of a text for TVM's parser that a file makes while it runs: nothing is wrong with that."""
    return Problem(ProblemKind.UNRESOLVED_NAME, _PUT_TOGETHER, location, is_note=True)


def _python(content: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Of a text with an error Python looks for the file, to quote the line: there must be none.
        return with_printable_numbers(ast.parse(content, filename=""), content)


def _place_of(error: SyntaxError, text: SourceText) -> Location:
    """What Python underlines."""
    line, column = error.lineno or 1, (error.offset or 1) - 1
    start = text.point(line, column)
    end_line, end = getattr(error, "end_lineno", None), getattr(error, "end_offset", None)
    if not end_line or not end or (end_line, end - 1) <= (line, column):
        return start
    last = text.point(end_line, end - 1)
    return replace(start, end_line=last.line, end_column=last.column)


def _rest_of(
    text: SourceText, problem: Problem
) -> tuple[ast.Module, tuple[Problem, ...], tuple[range, ...]] | None:
    """The tree of what is left of a text without the definitions with syntax errors, those errors, and the
    lines that were left out; None where nothing can be made of it.
    """
    content, declared = without_later_syntax(text.content)
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", content)
    problems: list[Problem] = [problem]
    lost: list[range] = []
    for attempt in range(_MOST_ERRORS if len(content) <= _LARGE else 2):
        try:
            tree = _python("".join(lines))
        except SyntaxError as error:
            if attempt and not any((error.lineno or 1) in one for one in lost):
                message = f"syntax error: {error.msg}"
                problems.append(Problem(ProblemKind.PARSE_ERROR, message, _place_of(error, text)))
            left_out = without_block(lines, error.lineno or 1)
            if left_out is None:
                return None
            lost.append(left_out)
        except (RecursionError, MemoryError, ValueError):
            return None
        else:
            return with_symbols(tree, declared), tuple(dict.fromkeys(problems)), tuple(lost)
    return None


def _damaged(unit: Unit, lost: tuple[range, ...]) -> Unit:
    """The unit, which knows whether a part of it was left out."""
    lines = range(unit.node.lineno, (unit.node.end_lineno or unit.node.lineno) + 1)
    is_damaged = any(one.start in lines for one in lost)
    return replace(unit, is_damaged=True) if is_damaged else unit


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


def _read_notebook(path: str, content: str) -> FileUnits:
    """The cells of a notebook are one program: what does not parse is left out and, if Relax, reported. What
    a magic gives to something else counts only if it is a module.
    """
    try:
        cells = notebook_cells(path, content)
    except MalformedError as error:
        location = SourceText(path, content).point(error.line, error.column - 1)
        return FileUnits(problems=(Problem(ProblemKind.PARSE_ERROR, str(error), location),))
    readable: list[Part] = []
    apart: list[FileUnits] = []
    problems = []
    for cell in cells:
        tree = parse_text(cell.text)
        if not cell.is_python and (isinstance(tree, Problem) or not _holds_relax(cell.text)):
            continue
        if isinstance(tree, Problem):
            problems += [tree] if _holds_relax(cell.text) else []
        elif cell.keeps:
            readable.append(cell)
        elif _holds_relax(cell.text):
            before = [one.text for one in readable] if cell.sees else []
            apart.append(_last_of(read_text(joined(path, [*before, cell.text])), cell.text))
    found = read_text(joined(path, [cell.text for cell in readable])) if readable else FileUnits()
    found = _merged([FileUnits(problems=tuple(problems)), found, *apart])
    counts = [cell.count for cell in readable if cell.count is not None]
    return found if counts == sorted(set(counts)) else _in_order(found)


def _last_of(found: FileUnits, cell: SourceText) -> FileUnits:
    """What was found in a cell, of what was found in it and those before it."""
    origins = cell.origins or ()

    def is_inside(place: Location | None) -> bool:
        if place is None:
            return False
        first, last = origins[0], origins[-1]
        return (first.line, first.columns[0]) <= (place.line, place.column) <= (last.line, last.columns[-1])

    return FileUnits(
        tuple([unit for unit in found.units if is_inside(unit.text.location(unit.node))]),
        tuple([one for one in found.problems if is_inside(one.location)]),
        tuple([one for one in found.comments if is_inside(one.location)]),
    )


def _in_order(found: FileUnits) -> FileUnits:
    """The units of a notebook whose cells were run in another order. Imports are the same in any."""
    units = [
        replace(unit, assumptions=(_IN_ORDER, *unit.assumptions))
        if any(not isinstance(entry, Imported) for entry in unit.environment.values())
        else unit
        for unit in found.units
    ]
    return replace(found, units=tuple(units))


def _read_markdown(path: str, content: str) -> FileUnits:
    """The fences of a page are one program, too, as far as they are Python: one that nobody has called so,
    and that is not, is not an error.
    """
    readable: list[SourceText] = []
    apart: list[FileUnits] = []
    for fence in markdown_blocks(path, content):
        if not isinstance(parse_text(fence.text), Problem):
            readable.append(fence.text)
        elif _holds_relax(fence.text) and fence.is_python:
            apart.append(read_text(fence.text))
    found = [read_text(joined(path, readable))] if readable else []
    return _merged([*found, *apart])


def _holds_relax(text: SourceText) -> bool:
    return may_contain_relax(text.content.encode(errors="replace"))


def _merged(parts: Iterable[FileUnits]) -> FileUnits:
    units: list[Unit] = []
    problems: list[Problem] = []
    comments: list[IgnoreComment] = []
    meant_to_fail = 0
    for part in parts:
        meant_to_fail += part.meant_to_fail
        units += part.units
        problems += part.problems
        comments += part.comments
    return FileUnits(tuple(units), tuple(problems), tuple(comments), meant_to_fail)


def _at_start(path: str, message: str) -> Problem:
    return Problem(ProblemKind.PARSE_ERROR, message, SourceText(path, "").point(1, 0))
