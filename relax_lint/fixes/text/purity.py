"""Edits after which a function may make impure calls."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from relax_lint.fixes.module.rewriting import FORCE_PURE
from relax_lint.fixes.text.editing import NotEditableError, UnitText
from relax_lint.results.check import Edit


def impurity(
    text: UnitText,
    definition: ast.FunctionDef,
    function: Any,
    is_called: Callable[[str], bool],
    relax_name: str,
) -> tuple[Edit, ...]:
    """The edits that let `function` (the node of `definition`) check something; none where it is impure.
    `is_called` tells whether others of the module refer to a function.

    A function that others call keeps its type: it is said to be pure but for its checks. Raises
    NotEditableError.
    """
    forced = function.attrs is not None and bool(function.attrs.get(FORCE_PURE, False))
    if not function.is_pure or forced:
        return ()
    if is_called(definition.name):
        return (_forced(text, definition, relax_name),)
    return (_decorated(text, definition),)


def attributes(definition: ast.FunctionDef) -> ast.Dict | None:
    """The attributes that a function sets, where they are written as a dictionary."""
    for statement in definition.body:
        if isinstance(statement, ast.Expr) and is_attribute_call(statement):
            call = statement.value
            if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Dict):
                return call.args[0]
    return None


def is_attribute_call(statement: ast.stmt) -> bool:
    """Whether a statement is the `R.func_attr` of its function."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="func_attr"))):
            return True
    return False


def _decorated(text: UnitText, definition: ast.FunctionDef) -> Edit:
    """`pure=False` in the decorator."""
    decorator = definition.decorator_list[-1]
    if not isinstance(decorator, ast.Call):
        return text.insert_behind(decorator, "(pure=False)")
    for keyword in decorator.keywords:
        if keyword.arg == "pure":
            return text.replace(keyword.value, "False")
        if keyword.arg is None:
            raise NotEditableError("the arguments of the decorator are not written out")
    written = [*decorator.args, *(keyword.value for keyword in decorator.keywords)]
    if not written:
        return text.insert_at_end(decorator, "pure=False")
    return text.insert_behind(written[-1], ", pure=False")


def _forced(text: UnitText, definition: ast.FunctionDef, relax_name: str) -> Edit:
    """The attribute with which a function counts as pure whatever it calls."""
    entry = f'"{FORCE_PURE}": True'
    written = attributes(definition)
    if written is None:
        if any(is_attribute_call(statement) for statement in definition.body):
            raise NotEditableError("the attributes of the function are computed")
        return text.insert_before(definition.body[0], f"{relax_name}.func_attr({{{entry}}})")
    if not written.values:
        return text.insert_at_end(written, entry)
    return text.insert_behind(written.values[-1], f", {entry}")
