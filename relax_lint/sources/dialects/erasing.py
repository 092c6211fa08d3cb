"""Types of which a part cannot be said: what is left of them is true of the same values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeGuard

from relax_lint.sources.dialects.rule import Context

# Whether a part of a type is one that cannot be said.
IsUnsaid = Callable[[ast.expr], bool]

_SHAPED = ("Tensor", "Shape")


def erased(context: Context, annotation: ast.expr, is_unsaid: IsUnsaid) -> ast.expr | None:
    """A type without its parts that cannot be said: a tensor keeps its rank and its element type, a tuple its
    other fields. None where nothing is left to say.
    """
    if not is_unsaid(annotation):
        return annotation
    if not isinstance(annotation, ast.Call) or not isinstance(annotation.func, ast.Attribute):
        return None
    kind = context.relax(annotation.func)
    if kind in _SHAPED and not is_unsaid(annotation.func):
        return _without_extents(annotation, kind, is_unsaid)
    if kind == "Tuple" and not annotation.keywords:
        fields = [erased(context, field, is_unsaid) for field in annotation.args]
        if any(isinstance(field, ast.Starred) for field in annotation.args):
            return None
        whole = [field or any_type(annotation.func) for field in fields]
        return ast.copy_location(ast.Call(annotation.func, whole, []), annotation)
    return None


def any_type(function: ast.expr) -> ast.expr:
    """`R.Any` for the `R` of `R.Tensor`."""
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    return ast.copy_location(ast.Attribute(root, "Any", ast.Load()), function)


def _without_extents(call: ast.Call, kind: str, is_unsaid: IsUnsaid) -> ast.expr | None:
    names = ("shape", "dtype", "vdevice") if kind == "Tensor" else ("values",)
    args = call.args
    if kind == "Tensor" and args and _is_text(args[0]):
        # `R.Tensor("float32")`: a lone string is the element type.
        names = ("dtype",)
    given = dict(zip(names, args, strict=False))
    given |= {word.arg: word.value for word in call.keywords if word.arg is not None}
    said = {name: value for name, value in given.items() if not is_unsaid(value)}
    # None of the parts: of a device it takes more than the text to say what it is.
    if len(said) == len(given) and said.pop("vdevice", None) is None:
        return None
    shape = given.get(names[0]) if names[0] != "dtype" else None
    if shape is not None and names[0] not in said and "ndim" not in said and _is_written_out(shape):
        said["ndim"] = ast.copy_location(ast.Constant(len(shape.elts)), shape)
    keywords = [ast.copy_location(ast.keyword(name, value), call) for name, value in said.items()]
    return ast.copy_location(ast.Call(call.func, [], keywords), call)


def _is_written_out(shape: ast.expr) -> TypeGuard[ast.Tuple | ast.List]:
    if not isinstance(shape, ast.Tuple | ast.List):
        return False
    return not any(isinstance(extent, ast.Starred) for extent in shape.elts)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
