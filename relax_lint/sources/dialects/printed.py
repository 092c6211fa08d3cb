"""What TVM prints and does not read back: its printer and its parser disagree in these places."""

from __future__ import annotations

import ast

from relax_lint.sources.dialects.rule import Context, Rule, drop_keyword, keyword
from relax_lint.sources.dialects.symbols import quote_symbols


def types(context: Context) -> bool:
    """`R.builtin.alloc_tensor(..., ty_args=...)` is printed with a keyword that does not exist."""
    dropped = [
        drop_keyword(call, "ty_args")
        for call in context.calls()
        if (context.relax(call.func) or "").startswith(("builtin.", "memory."))
    ]
    return any(dropped)


def symbols(context: Context) -> bool:
    """Symbols stand bare in a signature where another function declares the same name.

    Only in modules that TVM printed: elsewhere an undefined name is a mistake.
    """
    changed = False
    if not context.printed:
        return False
    for function in context.functions():
        annotations = [a.annotation for a in function.args.args if a.annotation is not None]
        annotations += [function.returns] if function.returns is not None else []
        mentioned = {n.id for a in annotations for n in ast.walk(a) if isinstance(n, ast.Name)}
        free = mentioned - context.known - {a.arg for a in function.args.args}
        if free:
            quote_symbols(function, free)
            changed = True
    return changed


def assertion(context: Context) -> bool:
    """The values of `R.assert_op(condition, [x, y])` are printed without their list."""
    changed = False
    for call in context.calls():
        if context.relax(call.func) == "assert_op" and len(call.args) > 1:
            values = call.args[1:]
            if len(values) == 1 and isinstance(values[0], ast.List | ast.Tuple):
                continue
            call.args[1:] = [ast.copy_location(ast.List(values, ast.Load()), values[0])]
            changed = True
    return changed


def primitives(context: Context) -> bool:
    """`T.int64` inside `R.Tuple(...)` or `R.Callable(...)`, or in `ty_args=`, means `R.Prim("int64")`."""
    changed = False
    for call in context.calls():
        name = context.relax(call.func)
        if name is None or not isinstance(call.func, ast.Attribute):
            continue
        types = keyword(call, "ty_args")
        if name in ("Tuple", "Callable"):
            lists = [call.args, *(a.elts for a in call.args if isinstance(a, ast.Tuple | ast.List))]
        elif types is not None and isinstance(types.value, ast.Tuple | ast.List):
            lists = [types.value.elts]
        else:
            continue
        for nodes in lists:
            for index, node in enumerate(nodes):
                dtype = context.tir(node) if isinstance(node, ast.Attribute) else None
                if dtype is not None:
                    nodes[index] = _primitive(_root(call.func), dtype, node)
                    changed = True
    return changed


def _root(function: ast.expr) -> ast.expr:
    """The `R` of `R.call_packed`, and of `R.vm.alloc_storage`."""
    while isinstance(function, ast.Attribute):
        function = function.value
    return function


def _primitive(relax: ast.expr, dtype: str, at: ast.expr) -> ast.expr:
    prim = ast.copy_location(ast.Attribute(relax, "Prim", ast.Load()), at)
    return ast.copy_location(ast.Call(prim, [ast.copy_location(ast.Constant(dtype), at)], []), at)


RULES = (
    Rule("printed-types", "0.27", types, ("ty_args",)),
    Rule("printed-symbols", "0.27", symbols),
    Rule("printed-assertion", "0.27", assertion, ("assert_op",)),
    Rule("printed-primitives", "0.27", primitives, ("Tuple", "Callable", "ty_args")),
)
