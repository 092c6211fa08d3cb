"""What the gate says about a call's arguments: texts that TVM evaluates, functions that TVM would call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from relax_lint.sources.guards import DERIVE_FUNCTIONS
from relax_lint.sources.names import RELAX, TIR
from relax_lint.sources.refusal import Refusal
from relax_lint.sources.shape_text import check_shape_text

# The dotted name that an expression stands for; None where it is not an import.
DottedName = Callable[[ast.expr], "str | None"]

_SHAPE_TYPES = frozenset({"Tensor", "Shape", "DTensor"})
_SHAPE_KEYWORDS = ("shape", "values")
_BUFFER = "Buffer"
_DERIVATION = 3  # R.Callable(params, ret, purity, derive_func)
# Functions whose arguments name what TVM calls: they have to stand where their arguments can be seen.
_CALLABLE, _PACKED = f"{RELAX}.Callable", f"{RELAX}.call_packed"
_TAKES_TYPES = (f"{RELAX}.Tuple", _CALLABLE)


def check_call(node: ast.Call, dotted_name: DottedName, has_dialect: bool) -> Iterator[Refusal]:
    """What is wrong with the arguments of a call. `has_dialect` is whether `T` is TVM's there."""
    dotted = dotted_name(node.func) or ""
    last = dotted.rpartition(".")[2] or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
    # What releases after 0.27 call a tensor of a kernel is a buffer.
    for at, text in _shape_texts(node, _BUFFER if dotted == f"{TIR}.Tensor" else last):
        if reason := check_shape_text(text, has_dialect):
            yield Refusal(at, reason)
    yield from _check_keywords(node)
    if last == "Callable":
        for argument in node.args[_DERIVATION:]:
            if not _is_known_derivation(argument):
                yield Refusal(argument, "a function that TVM would call while it infers types")
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                yield Refusal(argument, "arguments of `R.Callable` that are not written out")


def _shape_texts(node: ast.Call, last: str) -> Iterator[tuple[ast.AST, str]]:
    if last not in _SHAPE_TYPES and last != _BUFFER:
        return
    # `R.Tensor("float32")`: a lone string is the element type.
    shapes = [a for a in node.args[:1] if last == _BUFFER or not isinstance(a, ast.Constant)]
    shapes += [keyword.value for keyword in node.keywords if keyword.arg in _SHAPE_KEYWORDS]
    for shape in shapes:
        for child in ast.walk(shape):
            if isinstance(child, ast.Constant) and isinstance(child.value, str):
                yield child, child.value


def _check_keywords(node: ast.Call) -> Iterator[Refusal]:
    for keyword in node.keywords:
        if keyword.arg is None:
            yield Refusal(keyword.value, "keyword arguments that are not written out")
        elif keyword.arg == "derive_func" and not _is_known_derivation(keyword.value):
            yield Refusal(keyword.value, "a function that TVM would call while it infers types")
        elif keyword.arg == "attrs_type_key" and not _is_attrs_key(keyword.value):
            yield Refusal(keyword.value, "a class of TVM that is not a set of attributes")
        elif keyword.arg == "key" and isinstance(node.func, ast.Name):
            yield Refusal(keyword.value, f"a function that `{node.func.id}` would call")


def check_reference(
    node: ast.expr, dotted: str, callee_of: str | None, is_annotation: bool
) -> Iterator[Refusal]:
    """A function whose arguments have to be seen, used as a value. `callee_of` is the function that it is an
    argument of.
    """
    if dotted == _PACKED or (dotted == _CALLABLE and not is_annotation and callee_of not in _TAKES_TYPES):
        yield Refusal(node, f"`{ast.unparse(node)}` without its arguments")


def _is_known_derivation(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or node.value in DERIVE_FUNCTIONS)


def _is_attrs_key(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith("Attrs")
