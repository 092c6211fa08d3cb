"""Which names a tree binds, at every place where Python can bind one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from relax_lint.sources.newer_python import declared_by

_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def names_bound_by(node: ast.AST) -> Iterator[str]:
    """The names that this one node binds, its children apart."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
            yield from declared_by(node)
        case ast.arg(arg=name):
            yield name
        case ast.alias():
            yield node.asname or node.name.split(".")[0]
        case ast.ExceptHandler(name=str() as name):
            yield name
        case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
            yield name
        case ast.MatchMapping(rest=str() as name):
            yield name
        case ast.Global() | ast.Nonlocal():
            yield from node.names


def bound_anywhere(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that any of these nodes binds."""
    return {name for node in nodes for name in names_bound_by(node)}


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Every parameter of a function."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [*named, *(one for one in (arguments.vararg, arguments.kwarg) if one is not None)]


def local_names(function: ast.FunctionDef) -> set[str]:
    """The names of a function's own scope: its parameters and what its statements bind."""
    names = {parameter.arg for parameter in parameters(function.args)}
    names.update(declared_by(function))
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        names.update(names_bound_by(node))
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
    return names


def roots_of_attributes(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that an attribute is read of or written to."""
    return {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }


def methods(root: ast.AST) -> set[str]:
    """The functions of a module class: no names of a scope, unless something else binds them too."""
    if not isinstance(root, ast.ClassDef):
        return set()
    functions = {node for node in root.body if isinstance(node, ast.FunctionDef)}
    others = bound_anywhere(node for node in ast.walk(root) if node not in functions)
    return {function.name for function in functions} - others


def module_names(root: ast.AST, nodes: Iterable[ast.AST]) -> set[str]:
    """Names that stand for the module class `root` itself: its own, and `cls = Module` inside it.

    A name that is bound to anything else anywhere in the unit is an ordinary value.
    """
    if not isinstance(root, ast.ClassDef):
        return set()
    modules = {root.name}
    stores: dict[str, int] = {}
    aliases: dict[str, int] = {}
    for child in nodes:
        match child:
            case ast.Assign(targets=[ast.Name(id=alias)], value=ast.Name(id=root.name)):
                aliases[alias] = aliases.get(alias, 0) + 1
            case ast.Name(ctx=ast.Store()):
                stores[child.id] = stores.get(child.id, 0) + 1
            case ast.arg():
                stores[child.arg] = stores.get(child.arg, 0) + 1
            case ast.FunctionDef():
                stores[child.name] = stores.get(child.name, 0) + 1
    modules |= {name for name, count in aliases.items() if stores.get(name) == count}
    return {name for name in modules if name in aliases or name not in stores}
