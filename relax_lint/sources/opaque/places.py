"""The function, the statement and the part of it that a place of a unit's text is in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Point = tuple[int, int]
"""Line and column as syntax trees count them."""

Place = tuple[Point, Point]
"""Where something begins and where it ends."""


def place_of(node: Any) -> Place | None:
    """Where a node stands; None for one without a position."""
    line, column = getattr(node, "lineno", None), getattr(node, "col_offset", None)
    if not line or column is None:
        return None
    end, end_column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
    return (line, column), ((end, end_column) if end and end_column is not None else (line, column))


def holds(node: ast.AST, at: Place) -> bool:
    """Whether a place is inside of a node, its decorators included."""
    own = place_of(node)
    decorators = [place_of(decorator) for decorator in getattr(node, "decorator_list", ())]
    if own is None:
        return False
    start = min([own[0], *(place[0] for place in decorators if place is not None)])
    return start <= at[0] and at[1] <= own[1]


@dataclass
class Found:
    """A statement, the list that it stands in, and the innermost function that it belongs to."""

    statement: ast.stmt
    block: list[ast.stmt]
    function: ast.FunctionDef


def functions_of(root: ast.ClassDef | ast.FunctionDef) -> list[ast.FunctionDef]:
    """The functions of a unit: those of a class, or the one that it is."""
    if isinstance(root, ast.FunctionDef):
        return [root]
    return [node for node in root.body if isinstance(node, ast.FunctionDef)]


def innermost(function: ast.FunctionDef, at: Place) -> Found | None:
    """The innermost statement of a function that holds a place; None where the place is in its signature."""
    for block in _blocks(function):
        for statement in block:
            if holds(statement, at):
                if isinstance(statement, ast.FunctionDef):
                    return innermost(statement, at) or Found(statement, block, statement)
                deeper = _deeper(statement, at, function)
                return deeper or Found(statement, block, function)
    return None


def _deeper(statement: ast.stmt, at: Place, function: ast.FunctionDef) -> Found | None:
    for block in _blocks(statement):
        for inner in block:
            if holds(inner, at):
                if isinstance(inner, ast.FunctionDef):
                    return innermost(inner, at) or Found(inner, block, inner)
                return _deeper(inner, at, function) or Found(inner, block, function)
    return None


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def read_names(node: ast.AST | None) -> set[str]:
    """The names that are read in a tree."""
    if node is None:
        return set()
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def assigned_names(node: ast.AST) -> set[str]:
    """The names that a tree binds by assignment."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def spelled(node: ast.AST) -> str:
    """What a node says, in at most 60 characters and one line."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else text[:57] + "..."
