"""Finding TVMScript definitions in a file's syntax tree, at any depth and under any import alias."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from relax_lint.sources.names import IR, RELAX, TIR
from relax_lint.sources.scopes import Scope, dotted_name, environment
from relax_lint.sources.text import SourceText
from relax_lint.sources.unit import Unit

_KINDS = {
    IR + ".ir_module": "module",
    RELAX + ".function": "function",
    TIR + ".prim_func": "prim_func",
    TIR + ".function": "prim_func",
}


def find_units(tree: ast.Module, text: SourceText) -> list[Unit]:
    """The ir_module classes and the Relax functions that stand alone, in the order of the text."""
    finder = _Finder(text)
    return list(finder.walk(Scope(tree, None, finder.unit_of)))


class _Finder:
    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.found: dict[ast.AST, Unit | None] = {}

    def walk(self, scope: Scope) -> Iterator[Unit]:
        """Units below a scope; what is inside a unit belongs to it."""
        for node in _definitions(scope.node):
            unit = self.unit_of(node, scope)
            if unit is None:
                yield from self.walk(scope.child(node))
            elif unit.kind != "prim_func":
                yield unit

    def unit_of(self, node: ast.AST, scope: Scope) -> Unit | None:
        """The unit that a definition is; None if it is ordinary Python, or refers to itself in a circle."""
        if node not in self.found:
            self.found[node] = None
            self.found[node] = self._cut(node, scope)
        return self.found[node]

    def _cut(self, node: ast.AST, scope: Scope) -> Unit | None:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef):
            return None
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            kind = _KINDS.get(dotted_name(called, scope, node.lineno) or "")
            if kind is None or (kind == "module") != isinstance(node, ast.ClassDef):
                continue
            return Unit(
                name=node.name,
                kind=kind,
                line=self.text.place(node.lineno, node.col_offset)[0],
                text=self.text,
                node=node,
                environment=environment(node, scope, decorator.lineno),
                check_well_formed=_flag(decorator, "check_well_formed"),
            )
        return None


def _definitions(node: ast.AST) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _definitions(child)


def _flag(decorator: ast.expr, name: str) -> bool:
    if isinstance(decorator, ast.Call):
        for keyword in decorator.keywords:
            if keyword.arg == name and isinstance(keyword.value, ast.Constant):
                return bool(keyword.value.value)
    return True


def find_literals(tree: ast.Module) -> list[ast.Constant]:
    """String literals that are given to `from_source` or `parse` of TVM's script parser."""
    found: list[ast.Constant] = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="from_source") | ast.Name(id="from_source"), args=[first, *_]
            ):
                found += _literal(first)
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="script"), attr="parse"), args=[first, *_]
            ):
                found += _literal(first)
    return found


def _literal(node: ast.expr) -> list[ast.Constant]:
    """The literal, also under `textwrap.dedent`."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.func, ast.Attribute | ast.Name):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        return _literal(node.args[0]) if name == "dedent" else []
    return [node] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
