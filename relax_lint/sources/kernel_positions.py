"""From the accesses of a kernel back to the subscripts of its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

Subscripts: TypeAlias = "dict[tuple[str, bool], list[ast.Subscript]]"
"""By the name of the buffer and whether it is stored to, in the order in which they are evaluated."""

_NO_ACCESS = frozenset(("reads", "writes", "match_buffer", "sblock_attr", "func_attr", "Buffer"))
"""Calls in which a subscript stands for a region or a type."""


def subscripts(definition: ast.FunctionDef) -> Subscripts:
    """The subscripts of a kernel's body. An index that is loaded itself comes before what it indexes, and the
    value of a store before its target.
    """
    found: Subscripts = {}
    for statement in definition.body:
        for node, writes in _accesses(statement):
            if isinstance(node.value, ast.Name):
                found.setdefault((node.value.id, writes), []).append(node)
    return found


def _accesses(node: ast.AST) -> Iterator[tuple[ast.Subscript, bool]]:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) if name in _NO_ACCESS:
            return
        case ast.Assign(targets=[target], value=value):
            yield from _accesses(value)
            yield from _accesses(target)
        case ast.AugAssign(target=ast.Subscript() as target, value=value):
            yield from _accesses(target.slice)
            yield target, False
            yield from _accesses(value)
            yield from _accesses(target)
        case ast.Subscript(slice=index, ctx=context):
            yield from _accesses(index)
            yield node, isinstance(context, ast.Store)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _accesses(child)
