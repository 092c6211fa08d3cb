"""The statements of one scope that bind names in it or change their values in place, and whether each of
them is certain to run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

STAR = "*"
"""The name under which a star import is found."""

_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# Methods of lists, dictionaries, arrays and tensors that change them.
_CHANGING = frozenset(
    {
        *("append", "extend", "insert", "pop", "popitem", "remove", "clear", "sort", "reverse", "update"),
        *("setdefault", "add", "discard", "fill", "put", "resize", "itemset", "partition", "byteswap"),
        *("copyfrom",),
    }
)
# Functions of numpy that change their first argument.
_CHANGING_FUNCTIONS = frozenset({"put", "copyto", "place", "putmask", "fill_diagonal", "shuffle"})
# Managers of contexts, by their last names, that hold no error back.
_LETTING_PASS = frozenset(
    {
        *("NamedTemporaryFile", "PassContext", "Target", "TemporaryDirectory", "catch_warnings"),
        *("chdir", "closing", "dataflow", "errstate", "function", "no_grad", "nullcontext", "open"),
        *("redirect_stderr", "redirect_stdout", "subTest"),
    }
)


class Bound(NamedTuple):
    """A statement, or a part of one, that binds a name. `within` are the lines of the innermost block around
    it that may not run though the scope's own statements do; None where it runs whenever they do. `unless`
    are the lines of the `finally` blocks around it: an error before it leads there, too.
    """

    line: int
    statement: ast.AST
    within: range | None
    unless: tuple[range, ...] = ()

    def is_certain_at(self, line: int) -> bool:
        """Whether it has run when a line below it runs."""
        return (self.within is None or line in self.within) and not any(line in one for one in self.unless)


def bound_names(body: list[ast.stmt]) -> Iterator[tuple[str, Bound]]:
    """Names bound by statements of one scope, in the order of the text; not inside definitions."""
    for statement, within, unless in _own_statements(body):
        for name in _names(statement):
            yield name, Bound(statement.lineno, statement, within, unless)
        for name, node in _inner_names(statement):
            yield name, Bound(node.lineno, node, within, unless)


def changed_names(body: list[ast.stmt]) -> Iterator[tuple[str, Bound]]:
    """Names whose values statements of one scope change in place: `a[1] = 2`, `a.b = 2`, `a.append(2)`."""
    for statement, within, unless in _own_statements(body):
        for value in _changed(statement):
            if (name := root_name(value)) is not None:
                yield name, Bound(statement.lineno, statement, within, unless)


def _own_statements(
    body: list[ast.stmt], within: range | None = None, unless: tuple[range, ...] = ()
) -> Iterator[tuple[ast.stmt, range | None, tuple[range, ...]]]:
    for statement in body:
        yield statement, within, unless
        if not isinstance(statement, _DEFINITIONS):
            last = getattr(statement, "finalbody", [])
            inside = (*unless, _lines(last)) if last else unless
            for block, runs in _blocks(statement):
                lines = within if runs or not block else _lines(block)
                yield from _own_statements(block, lines, unless if block is last else inside)


def _blocks(statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], bool]]:
    """The blocks of a compound statement, each with whether it runs whenever the statement does."""
    handlers = getattr(statement, "handlers", [])
    runs = isinstance(statement, ast.Try) and not handlers
    if isinstance(statement, ast.With | ast.AsyncWith):
        # What an error ends early goes on behind it only where the manager holds the error back.
        runs = all(_lets_errors_pass(item.context_expr) for item in statement.items)
    yield getattr(statement, "body", []), runs
    for inner in (*handlers, *getattr(statement, "cases", ())):
        yield inner.body, False
    yield getattr(statement, "orelse", []), False
    yield getattr(statement, "finalbody", []), True


def _lets_errors_pass(manager: ast.expr) -> bool:
    called = manager.func if isinstance(manager, ast.Call) else manager
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
    return name in _LETTING_PASS


def _lines(block: list[ast.stmt]) -> range:
    first, last = block[0], block[-1]
    begins = min(one.lineno for one in (first, *getattr(first, "decorator_list", ())))
    return range(begins, (last.end_lineno or last.lineno) + 1)


def _names(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.Import() | ast.ImportFrom():
            for alias in statement.names:
                yield alias.asname or (alias.name.split(".")[0] if alias.name != STAR else STAR)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
        case ast.Delete(targets=targets):
            yield from (one.id for one in targets if isinstance(one, ast.Name))
        case ast.AnnAssign(value=None):
            return
        case _:
            for target in _targets(statement):
                yield from target_names(target)


def _inner_names(statement: ast.stmt) -> Iterator[tuple[str, ast.expr | ast.pattern | ast.excepthandler]]:
    """The names that parts of a statement bind: `(a := 1)`, `case a`, `except E as a`."""
    for child in ast.iter_child_nodes(statement):
        match child:
            case ast.stmt():
                continue
            case ast.ExceptHandler(name=str() as name):
                yield name, child
            case ast.match_case(pattern=pattern):
                yield from _captured(pattern)
        if not isinstance(child, ast.ExceptHandler | ast.match_case):
            for node in ast.walk(child):
                if isinstance(node, ast.NamedExpr):
                    yield node.target.id, node


def _captured(pattern: ast.pattern) -> Iterator[tuple[str, ast.pattern]]:
    for node in ast.walk(pattern):
        match node:
            case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
                yield name, node
            case ast.MatchMapping(rest=str() as name):
                yield name, node


def _targets(statement: ast.stmt) -> list[ast.expr]:
    """What a statement assigns to."""
    match statement:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign() | ast.AugAssign() | ast.For() | ast.AsyncFor():
            return [statement.target]
        case ast.With() | ast.AsyncWith():
            return [item.optional_vars for item in statement.items if item.optional_vars is not None]
    return []


def target_names(target: ast.expr) -> Iterator[str]:
    """The names that an assignment to a target binds: those of an index or an attribute are only read."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _changed(statement: ast.stmt) -> Iterator[ast.expr]:
    """The values that a statement changes a part of."""
    targets = statement.targets if isinstance(statement, ast.Delete) else _targets(statement)
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
                yield node.value
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[first, *_])) if (
            name in _CHANGING_FUNCTIONS
        ):
            yield first
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=name))) if name in _CHANGING:
            yield value


def root_name(node: ast.expr) -> str | None:
    """The name whose value an expression is or is a part of; None where it is anything else."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
