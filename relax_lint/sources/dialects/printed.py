"""What TVM prints and does not read back: its printer and its parser disagree in these places."""

from __future__ import annotations

import ast

from relax_lint.sources.dialects.rule import Context, Rule, calls, drop_keyword
from relax_lint.sources.dialects.symbols import quote_symbols


def types(context: Context) -> bool:
    """`R.builtin.alloc_tensor(..., ty_args=...)` is printed with a keyword that does not exist."""
    dropped = [
        drop_keyword(call, "ty_args")
        for call in calls(context.root)
        if (context.relax(call.func) or "").startswith(("builtin.", "memory."))
    ]
    return any(dropped)


def symbols(context: Context) -> bool:
    """Symbols stand bare in a signature where another function declares the same name.

    Only in what TVM printed: elsewhere a name that nothing binds is a mistake.
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
    for call in calls(context.root):
        if context.relax(call.func) == "assert_op" and len(call.args) > 1:
            values = call.args[1:]
            if len(values) == 1 and isinstance(values[0], ast.List | ast.Tuple):
                continue
            call.args[1:] = [ast.copy_location(ast.List(values, ast.Load()), values[0])]
            changed = True
    return changed


def primitives(context: Context) -> bool:
    """`T.int64` inside `R.Tuple(...)` or `R.Callable(...)` means `R.Prim("int64")`."""
    changed = False
    for call in calls(context.root):
        is_type = context.relax(call.func) in ("Tuple", "Callable")
        if not is_type or not isinstance(call.func, ast.Attribute):
            continue
        lists = [call.args, *(a.elts for a in call.args if isinstance(a, ast.Tuple | ast.List))]
        for nodes in lists:
            for index, node in enumerate(nodes):
                dtype = context.tir(node) if isinstance(node, ast.Attribute) else None
                if dtype is not None:
                    nodes[index] = _primitive(call.func.value, dtype, node)
                    changed = True
    return changed


def _primitive(relax: ast.expr, dtype: str, at: ast.expr) -> ast.expr:
    prim = ast.copy_location(ast.Attribute(relax, "Prim", ast.Load()), at)
    return ast.copy_location(ast.Call(prim, [ast.copy_location(ast.Constant(dtype), at)], []), at)


def constants(context: Context) -> bool:
    """`metadata["ir.GenericConst"][0]` is a constant that was left out: its annotation is its type."""
    changed = False
    for node in ast.walk(context.root):
        match node:
            case ast.AnnAssign(
                annotation=ast.Call(func=func, args=[shape, *rest], keywords=keywords),
                value=ast.Subscript(value=ast.Subscript(value=ast.Name(id="metadata") as metadata)) as value,
            ) if context.relax(func) == "Tensor":
                dtype = next((k.value for k in keywords if k.arg == "dtype"), rest[0] if rest else None)
                if dtype is not None:
                    node.value = ast.copy_location(ast.Call(metadata, [shape, dtype], []), value)
                    changed = True
    return changed


RULES = (
    Rule("printed-types", "0.27", types),
    Rule("printed-symbols", "0.27", symbols),
    Rule("printed-assertion", "0.27", assertion),
    Rule("printed-primitives", "0.27", primitives),
    Rule("printed-constants", "0.27", constants),
)
