"""Whether the value that a name is bound to can be changed in place."""

from __future__ import annotations

import ast

from relax_lint.sources.names import chain
from relax_lint.sources.unit import Computed, Entry, Literal

# They give numbers, texts, types and nodes of TVM, which nothing changes.
_FIXED_FUNCTIONS = frozenset(["abs", "bool", "float", "int", "len", "range", "str"])
_FIXED_PACKAGES = frozenset({"math", "tvm", "typing"})
_FIXED_NUMPY = frozenset(["bool_", "dtype", "finfo", "iinfo", "issubdtype", "prod"])
_NUMPY_SCALAR = ("int", "uint", "float")
FIXED_OF_ARRAYS = frozenset({"dtype", "itemsize", "nbytes", "ndim", "shape", "size"})
"""The attributes of arrays that nothing changes."""
_FIXED_ATTRIBUTES = FIXED_OF_ARRAYS | {"bits", "name"}
_TENSORS = frozenset({"runtime", "nd"})


def may_change(entry: Entry) -> bool:
    """Whether a value is, or holds, a list, a dictionary, an array or a tensor."""
    match entry:
        case Literal(value=value):
            return is_container(value)
        case Computed(node=node):
            return _is_changeable(node)
    return False


def is_flat(entry: Entry) -> bool:
    """Whether nothing inside a value can be changed: of a list of numbers only the list can."""
    match entry:
        case Literal(value=dict() as value):
            return not any(is_container(item) for item in value.values())
        case Literal(value=list() as value):
            return not any(is_container(item) for item in value)
    return False


def is_container(value: object) -> bool:
    """Whether a plain value can be changed, or a part of it can."""
    if isinstance(value, tuple):
        return any(is_container(item) for item in value)
    return isinstance(value, list | dict)


def _is_changeable(node: ast.expr) -> bool:
    match node:
        case ast.Constant() | ast.JoinedStr() | ast.Lambda() | ast.Compare() | ast.Name():
            return False
        case ast.Call(func=func):
            return not _gives_fixed(func, node)
        case ast.Attribute(value=value, attr=name):
            return name not in _FIXED_ATTRIBUTES and chain(node) is None and _is_changeable(value)
        case ast.Subscript(value=value):
            return _is_changeable(value)
        case ast.Tuple() | ast.BinOp() | ast.BoolOp() | ast.UnaryOp() | ast.IfExp():
            return any(
                _is_changeable(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)
            )
    return True


def _gives_fixed(func: ast.expr, call: ast.Call) -> bool:
    parts = chain(func)
    if parts is None:
        return False
    root, attributes = parts
    if not attributes:
        if root in ("max", "min", "sum", "tuple"):
            return not any(_is_changeable(one) for one in call.args if not isinstance(one, ast.List))
        return root in _FIXED_FUNCTIONS
    if root == "numpy":
        return attributes[-1] in _FIXED_NUMPY or attributes[-1].startswith(_NUMPY_SCALAR)
    return root in _FIXED_PACKAGES and attributes[0] not in _TENSORS
