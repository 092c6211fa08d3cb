"""Which functions of a module are called with something unread, or only where such a thing is true."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from relax_lint.sources.opaque.mentions import members_of, modules_of
from relax_lint.sources.opaque.places import assigned_names, functions_of
from relax_lint.vm.calls import UNREAD


def doubtful_mentions(left: ast.ClassDef | ast.FunctionDef) -> Mapping[str, frozenset[str]]:
    """The functions that the tree which is left of a module mentions where it depends on what was not read,
    each with the functions that it does so in.
    """
    if not isinstance(left, ast.ClassDef):
        return {}
    found: dict[str, set[str]] = {}
    for function in functions_of(left):
        for name in _Walk(left, function).found:
            found.setdefault(name, set()).add(function.name)
    return {name: frozenset(places) for name, places in found.items()}


class _Walk:
    """One walk through a function; `unread` are the names that depend on what was not read."""

    def __init__(self, root: ast.ClassDef, function: ast.FunctionDef) -> None:
        self._modules = modules_of(root, function)
        self._members = members_of(function, self._modules)
        self._unread = set[str]()
        self.found = set[str]()
        if any(map(_stands_for_unread, ast.walk(function))):
            self._block(function.body, doubtful=False)

    def _block(self, block: list[ast.stmt], *, doubtful: bool) -> None:
        for statement in block:
            if isinstance(statement, ast.FunctionDef):
                self._block(statement.body, doubtful=doubtful)
                continue
            if isinstance(statement, ast.If):
                inside = doubtful or self._depends(statement.test)
                self._block(statement.body, doubtful=inside)
                self._block(statement.orelse, doubtful=inside)
                continue
            depends = self._depends(statement)
            if doubtful or depends:
                self._unread |= assigned_names(statement)
                self._note(statement)
            # It may end the call.
            doubtful = doubtful or (depends and _asserts(statement))

    def _depends(self, node: ast.AST) -> bool:
        return any(
            _stands_for_unread(part) or (isinstance(part, ast.Name) and part.id in self._unread)
            for part in ast.walk(node)
        )

    def _note(self, statement: ast.stmt) -> None:
        for node in ast.walk(statement):
            match node:
                case ast.Attribute(attr=name, value=ast.Name(id=root)) if root in self._modules:
                    self.found.add(name)
                case ast.Name(id=name):
                    self.found |= self._members.get(name, set())


def _stands_for_unread(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(UNREAD)


def _asserts(statement: ast.stmt) -> bool:
    for node in ast.walk(statement):
        match node:
            case ast.Attribute(attr=str(text)) | ast.Constant(value=str(text)):
                if text.endswith("assert_op"):
                    return True
    return False
