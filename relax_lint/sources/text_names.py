"""What names stand for where a file puts a text together."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from relax_lint.sources.bindings import names_bound_by, parameters
from relax_lint.sources.scopes import Scope, resolve
from relax_lint.sources.unit import Entry, Literal

_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class TextNames:
    """The names of a file. `repeated` are those with more than one value, in whatever scope."""

    def __init__(self, tree: ast.Module, repeated: Iterable[str]) -> None:
        self._repeated = frozenset(repeated)
        self._scopes: dict[ast.expr, Scope] = {}
        # What is bound where no scope of statements tells of it, or for another scope.
        self._hidden: set[str] = set()
        waiting: list[tuple[ast.AST, Scope]] = [(tree, Scope(tree, None, lambda *_: None))]
        while waiting:
            node, scope = waiting.pop()
            self._see(node, scope)
            inner = scope.child(node) if isinstance(node, _DEFINITIONS) else scope
            body = set(node.body) if isinstance(node, _DEFINITIONS) else ()
            waiting += [(child, inner if child in body else scope) for child in ast.iter_child_nodes(node)]

    def _see(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Call():
                self._scopes.update(dict.fromkeys(node.args, scope))
                self._scopes.update((keyword.value, scope) for keyword in node.keywords)
            case ast.comprehension(target=target) | ast.NamedExpr(target=target):
                self._hidden.update(name for part in ast.walk(target) for name in names_bound_by(part))
            case ast.Lambda(args=arguments):
                self._hidden.update(one.arg for one in parameters(arguments))
            case ast.Global() | ast.Nonlocal() | ast.ExceptHandler():
                self._hidden.update(names_bound_by(node))
            case ast.MatchAs() | ast.MatchStar() | ast.MatchMapping():
                self._hidden.update(names_bound_by(node))

    def entry(self, name: str, argument: ast.expr) -> Entry | None:
        """What a name is bound to in an argument of a call; None where that is not known."""
        scope = self._scopes.get(argument)
        if scope is None or name in self._hidden:
            return None
        entry = resolve(name, scope, argument.lineno)
        if isinstance(entry, Literal) and entry.assumption is None and name in self._repeated:
            return Literal(entry.value, f"{name} = {entry.value!r:.60}")
        return entry
