"""Strings that TVM evaluates: the extents of shapes, as in `R.Tensor(("n * 2",))`."""

from __future__ import annotations

import ast

from relax_lint.sources.literal import is_large
from relax_lint.sources.sizes import check_arithmetic

MAX_LENGTH = 1000
# Arithmetic over symbols: nothing that has attributes, is called or subscripted, `T.max(n, 1)` apart.
_EXPRESSIONS = (ast.BinOp, ast.Constant, ast.Name, ast.UnaryOp, ast.IfExp, ast.Compare)


def check_shape_text(text: str, has_dialect: bool = True) -> str | None:
    """What is wrong with a string that TVM would evaluate as the extent of a shape; None if nothing is.

    `has_dialect` is whether the name `T` is TVM's dialect there: of anything else no function is called.
    """
    if len(text) > MAX_LENGTH:
        return f"a shape expression of more than {MAX_LENGTH} characters"
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return f"`{shortened(text)}` in a shape"
    for node in ast.walk(tree):
        calls = has_dialect and isinstance(node, ast.expr) and _is_tir_call(node)
        if isinstance(node, ast.expr) and not (isinstance(node, _EXPRESSIONS) or calls):
            return f"`{shortened(text)}` in a shape"
        if isinstance(node, ast.Name) and node.id.startswith("__"):
            return f"the name `{node.id}`"
        if isinstance(node, ast.Constant) and not isinstance(node.value, int | float):
            return f"`{shortened(text)}` in a shape"
        if isinstance(node, ast.Constant) and is_large(node.value):
            return "a number that is too large"
        if isinstance(node, ast.expr):
            for refusal in check_arithmetic(node, {}):
                return refusal.reason
    return None


def names_in(text: str) -> set[str]:
    """The names that a string mentions if it is the extent of a shape."""
    if text.isidentifier():
        return {text}
    if len(text) > MAX_LENGTH or check_shape_text(text) is not None:
        return set()
    tree = ast.parse(text.strip(), mode="eval")
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def shortened(text: str) -> str:
    """Text that fits into a message."""
    return text if len(text) <= 60 else text[:57] + "..."


def _is_tir_call(node: ast.expr) -> bool:
    """`T.max(n, 1)`, and the `T.max` in it."""
    if isinstance(node, ast.Call):
        return not node.keywords and isinstance(node.func, ast.Attribute)
    if not isinstance(node, ast.Attribute):
        return False
    return isinstance(node.value, ast.Name) and node.value.id == "T" and not node.attr.startswith("_")
