"""Definitions that are written like TVMScript under a decorator that cannot be told to be TVM's."""

from __future__ import annotations

import ast

from relax_lint.sources.names import chain

_MODULE, _FUNCTION = "ir_module", "function"
# What parameters of a Relax function are declared with.
_TYPES = frozenset({"Callable", "DTensor", "Object", "Prim", "Shape", "Tensor", "Tuple"})


def like_a_unit(node: ast.AST) -> ast.expr | None:
    """The decorator that makes a definition look like a unit: `x.ir_module` of a class, `x.function` of a
    function whose parameters have types such as `x.Tensor(...)`.
    """
    if not isinstance(node, ast.ClassDef | ast.FunctionDef):
        return None
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        parts = chain(called)
        if parts is None:
            continue
        *around, name = (parts[0], *parts[1])
        if isinstance(node, ast.ClassDef):
            if name == _MODULE:
                return called
        elif name == _FUNCTION and _is_typed(node, around):
            return called
    return None


def _is_typed(function: ast.FunctionDef, around: list[str]) -> bool:
    """Whether a parameter has a type that stands where the decorator does."""
    declared = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    found = [one.annotation.func for one in declared if isinstance(one.annotation, ast.Call)]
    chains = [(parts[0], *parts[1]) for func in found if (parts := chain(func)) is not None]
    return any([*names[:-1]] == around and names[-1] in _TYPES for names in chains)
