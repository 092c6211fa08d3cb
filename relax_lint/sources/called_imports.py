"""Imports that are calls: `tvm = pytest.importorskip("tvm")`, `importlib.import_module("tvm.script")`."""

from __future__ import annotations

import ast

from relax_lint.sources.names import canonical

_GIVES_THE_MODULE = frozenset({"importorskip", "import_module"})
_OFFERED = frozenset({"tvm", "numpy", "math"})


def module_of(value: ast.expr) -> str | None:
    """The canonical name of the module that an expression imports, or of a part of it; None for any that the
    vocabulary does not know.
    """
    match value:
        case ast.Attribute(value=inner, attr=name):
            module = module_of(inner)
            return None if module is None else canonical(f"{module}.{name}")
        case ast.Call(
            func=ast.Attribute(attr=called) | ast.Name(id=called), args=[ast.Constant(str(name)), *_]
        ):
            if name.split(".")[0] not in _OFFERED:
                return None
            if called in _GIVES_THE_MODULE:
                return canonical(name)
            if called == "__import__":
                return canonical(name if _names_members(value) else name.split(".")[0])
    return None


def _names_members(call: ast.Call) -> bool:
    """Whether `__import__` is told what is wanted of the module: it gives the innermost one only then."""
    given = [*call.args[3:4], *(one.value for one in call.keywords if one.arg == "fromlist")]
    return any(isinstance(one, ast.List | ast.Tuple) and one.elts for one in given)
