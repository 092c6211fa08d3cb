"""Edits of one unit's text: lines that go, lines that come, expressions that are replaced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias, TypeVar

from relax_lint.results.check import Edit
from relax_lint.results.location import Location
from relax_lint.sources.unit import Unit

_LINE_END = re.compile(r"\r\n|\r|\n")
_Key: TypeAlias = "tuple[str, int, int, int | None, int | None]"
_Node = TypeVar("_Node", bound=ast.AST)


class NotEditableError(ValueError):
    """The text is written in a way that leaves no place for the change; the message says why."""


def nodes_of(root: ast.AST) -> Iterator[ast.AST]:
    """What `ast.walk` gives, in another order and in a third of the time: they are thousands."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                pending.append(value)
            elif type(value) is list:
                pending += [item for item in value if isinstance(item, ast.AST)]


class UnitText:
    """The text of a unit, edited by whole lines and by expressions. All that it takes are nodes of the
    unit's own tree (see `original`).
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._text = unit.text
        self._suites: dict[ast.AST, tuple[list[ast.stmt], int, ast.AST]] = {}
        self._note_suites(unit.node)
        self._by_place: dict[ast.AST, dict[_Key, ast.AST]] = {}

    def _note_suites(self, parent: ast.AST) -> None:
        for suite in _suites(parent):
            for index, statement in enumerate(suite):
                self._suites[statement] = suite, index, parent
                if "body" in statement._fields:
                    self._note_suites(statement)

    def original(self, node: _Node) -> _Node:
        """The node of the text at the place of a node of the parsed tree. Raises NotEditableError."""
        if node is self.unit.node or node in self._suites:
            return node
        found = self._at(_key(node))
        if not isinstance(found, type(node)):
            raise NotEditableError("the text was read in another dialect")
        return found

    def _at(self, key: _Key) -> ast.AST | None:
        """The node of a kind at a place, looked for in the function that is there."""
        for part in (self.unit.node, *self.unit.node.body):
            if part is self.unit.node and isinstance(part, ast.ClassDef):
                continue
            if part.lineno <= key[1] <= (part.end_lineno or part.lineno):
                if _key(part) == key:
                    return part
                if part not in self._by_place:
                    nodes = (node for node in nodes_of(part) if hasattr(node, "lineno"))
                    self._by_place[part] = {_key(node): node for node in nodes}
                return self._by_place[part].get(key)
        return None

    def source(self, node: ast.AST) -> str:
        """The text of an expression on one line. Raises NotEditableError."""
        place = self._text.location(node)
        if place.line != place.end_line:
            raise NotEditableError("it spans several lines")
        return self._text.lines[place.line - 1][place.column - 1 : place.end_column - 1]

    def behind(self, statement: ast.stmt) -> str:
        """What stands behind a statement on its line."""
        place = self._text.location(statement)
        return self._text.lines[place.end_line - 1][place.end_column - 1 :]

    def lines_of(self, node: ast.stmt) -> str:
        """The lines that a statement is on."""
        return "\n".join(self._text.lines[node.lineno - 1 : node.end_lineno])

    def enclosing(self, statement: ast.stmt) -> Iterator[ast.AST]:
        """The statements that enclose a statement, innermost first."""
        node: ast.AST = statement
        while node in self._suites:
            node = self._suites[node][2]
            yield node

    def previous(self, statement: ast.stmt) -> ast.stmt | None:
        """The statement before it in its suite."""
        suite, index, _ = self._suites[statement]
        return suite[index - 1] if index > 0 else None

    # -- edits ---------------------------------------------------------------------------------

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Another expression in the place of one."""
        return Edit(self._text.location(node), text)

    def insert_behind(self, node: ast.AST, text: str) -> Edit:
        """Text directly after an expression."""
        place = self._text.location(node)
        return Edit(Location(place.path, place.end_line, place.end_column, *_end(place)), text)

    def insert_at_end(self, node: ast.AST, text: str) -> Edit:
        """Text before the last character of an expression: its closing bracket."""
        place = self._text.location(node)
        end = (place.end_line, place.end_column - 1)
        return Edit(Location(place.path, *end, *end), text)

    def insert_before(self, statement: ast.stmt, code: str) -> Edit:
        """A line of its own before a statement, above the comments directly over it. Raises
        NotEditableError.
        """
        previous = self.previous(statement)
        if previous is not None:
            self._require_line_end(previous)
            return self._new_line(_last_line(previous) + 1, statement, code)
        self._require_line_start(statement)
        line = statement.lineno
        while line > 1 and self._text.lines[line - 2].lstrip().startswith("#"):
            line -= 1
        return self._new_line(line, statement, code)

    def insert_after(self, statement: ast.stmt, code: str) -> Edit:
        """A line of its own after a statement. Raises NotEditableError."""
        self._require_own_lines(statement)
        return self._new_line(_last_line(statement) + 1, statement, code)

    def insert_line_after(self, line: int, code: str) -> Edit:
        """A line without indentation after a line of the file."""
        return self._at_start(line + 1, code + self._line_end(line))

    def delete(self, statement: ast.stmt) -> Edit:
        """Nothing in the place of the lines of a statement. Raises NotEditableError."""
        self._require_own_lines(statement)
        suite, _, _ = self._suites[statement]
        last = _last_line(statement)
        if len(suite) == 1 or last >= len(self._text.lines):
            raise NotEditableError("the block would be empty")
        return Edit(Location(self._text.path, statement.lineno, 1, last + 1, 1), "")

    def _new_line(self, line: int, model: ast.stmt, code: str) -> Edit:
        return self._at_start(line, self._indent(model) + code + self._line_end(max(line - 1, 1)))

    def _at_start(self, line: int, text: str) -> Edit:
        if line > len(self._text.lines):
            raise NotEditableError("the file ends there")
        return Edit(Location(self._text.path, line, 1, line, 1), text)

    def _indent(self, statement: ast.stmt) -> str:
        return self._text.lines[statement.lineno - 1].encode()[: statement.col_offset].decode(errors="ignore")

    def _line_end(self, line: int) -> str:
        ends = self._line_ends
        return ends[min(line, len(ends)) - 1] if ends else "\n"

    @cached_property
    def _line_ends(self) -> list[str]:
        content = self._text.content
        return _LINE_END.findall(content) if "\r" in content else ["\n"] * content.count("\n")

    def _require_own_lines(self, statement: ast.stmt) -> None:
        """Raises NotEditableError where the lines of a statement hold more than it and a comment."""
        self._require_line_start(statement)
        self._require_line_end(statement)

    def _require_line_start(self, statement: ast.stmt) -> None:
        """Raises NotEditableError where other code stands before a statement on its line."""
        place = self._text.location(statement)
        if self._text.lines[place.line - 1][: place.column - 1].strip():
            raise NotEditableError("other code is on the same line")

    def _require_line_end(self, statement: ast.stmt) -> None:
        """Raises NotEditableError where other code than a comment stands behind a statement on its line."""
        after = self.behind(statement).lstrip()
        if after and not after.startswith("#"):
            raise NotEditableError("other code is on the same line")


def _key(node: ast.AST) -> _Key:
    end = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
    return type(node).__name__, getattr(node, "lineno", 0), getattr(node, "col_offset", 0), *end


def _suites(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        suite = getattr(node, name, None)
        if isinstance(suite, list):
            yield suite


def _last_line(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _end(place: Location) -> tuple[int, int]:
    return place.end_line, place.end_column
