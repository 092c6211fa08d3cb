"""The statements of one scope that bind names in it, and whether each of them is certain to run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

STAR = "*"
"""The name under which a star import is found."""

_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Bound(NamedTuple):
    """A statement that binds a name. `is_certain` where it runs whenever the scope's own statements do."""

    line: int
    statement: ast.stmt
    is_certain: bool


def bound_names(body: list[ast.stmt], *, is_certain: bool = True) -> Iterator[tuple[str, Bound]]:
    """Names bound by statements of one scope, in the order of the text; not inside definitions."""
    for statement in body:
        bound = Bound(statement.lineno, statement, is_certain)
        for name in _names(statement):
            yield name, bound
        if isinstance(statement, _DEFINITIONS):
            continue
        # What manages a context may be left early, but then what comes behind it is not reached.
        inside = is_certain and isinstance(statement, ast.With | ast.AsyncWith)
        yield from bound_names(getattr(statement, "body", []), is_certain=inside)
        for inner in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from bound_names(inner.body, is_certain=False)
        yield from bound_names(getattr(statement, "orelse", []), is_certain=False)
        yield from bound_names(getattr(statement, "finalbody", []), is_certain=is_certain)


def _names(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.Import() | ast.ImportFrom():
            for alias in statement.names:
                yield alias.asname or (alias.name.split(".")[0] if alias.name != STAR else STAR)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
        case ast.Assign():
            for target in statement.targets:
                yield from target_names(target)
        case ast.AnnAssign(value=None):
            return
        case ast.AnnAssign() | ast.AugAssign() | ast.For() | ast.AsyncFor():
            yield from target_names(statement.target)
        case ast.With() | ast.AsyncWith():
            for item in statement.items:
                if item.optional_vars is not None:
                    yield from target_names(item.optional_vars)


def target_names(target: ast.expr) -> Iterator[str]:
    """The names in the target of an assignment."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            yield node.id
