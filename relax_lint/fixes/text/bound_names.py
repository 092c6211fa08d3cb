"""Which statements of a function bind a name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from relax_lint.fixes.text.editing import nodes_of

_FOR = re.compile(r"for\b(?<=\bfor)")
"""The word; a search for what begins with plain letters takes a tenth of the time."""
# To look for a class in a tuple takes half as long as in a union.
_HOLD_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
_ASSIGNS = (ast.Assign, ast.AnnAssign)


def bindings_by_name(definition: ast.FunctionDef, text: str) -> dict[str, list[ast.stmt]]:
    """The assignments that bind each name of a function, in the order of the text; `text` holds all of it."""
    # An expression binds a name with one of them only. Nearly no function has one, and expressions are most
    # of a tree.
    inside = ":=" in text or _FOR.search(text) is not None
    found: dict[str, list[ast.stmt]] = {}
    for statement in _assignments(definition):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for part in (statement,) if inside else targets:
            # Nearly every target is a name.
            for node in (part,) if isinstance(part, ast.Name) else nodes_of(part):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    found.setdefault(node.id, []).append(statement)
    for statements in found.values():
        statements.sort(key=lambda statement: statement.lineno)
    return found


def _assignments(definition: ast.FunctionDef) -> Iterator[ast.Assign | ast.AnnAssign]:
    pending: list[ast.AST] = [definition]
    while pending:
        node = pending.pop()
        if isinstance(node, _ASSIGNS):
            yield node
            continue
        for value in vars(node).values():
            if type(value) is list:
                pending += [item for item in value if isinstance(item, _HOLD_STATEMENTS)]
