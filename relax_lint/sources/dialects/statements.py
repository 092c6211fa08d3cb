"""Statements of TIR that are written differently today: returned values, allocations."""

from __future__ import annotations

import ast
from collections.abc import Callable

from relax_lint.sources.dialects.rule import Context, Rule, replace_all

# What stands for one statement; None leaves it as it is.
_Change = Callable[[ast.stmt], "list[ast.stmt] | None"]


def returned_value(context: Context) -> bool:
    """`T.ret(x)` became `return x`."""

    def change(statement: ast.stmt) -> list[ast.stmt] | None:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute() as func, args=[value])):
                if context.tir(func) == "ret":
                    return [ast.copy_location(ast.Return(value), statement)]
        return None

    return _replace_statements(context, change)


def allocated_pointer(context: Context) -> bool:
    """`p = T.allocate(...)` gave a pointer for `T.Buffer(data=p)`; now a buffer is allocated, of which the
    pointer is `p.data`. The contents of `T.allocate_const` are dropped.
    """
    changed = False
    for function in context.functions():
        pointers: set[str] = set()

        def change(statement: ast.stmt, pointers: set[str] = pointers) -> list[ast.stmt] | None:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                    if allocation := _allocation(context, call):
                        statement.value = allocation
                        pointers.add(name)
                        return [statement]
                case ast.With(
                    items=[ast.withitem(context_expr=ast.Call() as call, optional_vars=ast.Name() as target)],
                    body=body,
                ):
                    if allocation := _allocation(context, call):
                        pointers.add(target.id)
                        return [ast.copy_location(ast.Assign([target], allocation), statement), *body]
            return None

        def pointer(node: ast.expr, pointers: set[str] = pointers) -> ast.expr | None:
            if isinstance(node, ast.Name) and node.id in pointers and isinstance(node.ctx, ast.Load):
                return ast.Attribute(
                    ast.copy_location(ast.Name(node.id, ast.Load()), node), "data", ast.Load()
                )
            return None

        if _replace_in(function, change):
            for index, statement in enumerate(function.body):
                holder = ast.Module([statement], [])
                replace_all(holder, pointer)
                function.body[index] = holder.body[0]
            changed = True
    return changed


def _allocation(context: Context, call: ast.Call) -> ast.Call | None:
    """The call of today that allocates the same bytes."""
    kind = context.tir(call.func)
    if kind not in ("allocate", "allocate_const") or not isinstance(call.func, ast.Attribute):
        return None
    extents, dtype, scope = (
        ("extents", "dtype", "scope") if kind == "allocate" else ("data", "dtype", "extents")
    )
    given = dict(zip((extents, dtype, scope), call.args, strict=False))
    given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
    if "extents" not in given or "dtype" not in given:
        return None
    function = ast.copy_location(ast.Attribute(call.func.value, "alloc_buffer", ast.Load()), call.func)
    keywords = [
        ast.copy_location(ast.keyword(k, given[k]), call) for k in ("scope", "annotations") if k in given
    ]
    return ast.copy_location(ast.Call(function, [given["extents"], given["dtype"]], keywords), call)


def declared_buffer(context: Context) -> bool:
    """`with T.decl_buffer(...) as b:` became a plain assignment."""

    def change(statement: ast.stmt) -> list[ast.stmt] | None:
        match statement:
            case ast.With(
                items=[ast.withitem(context_expr=ast.Call() as call, optional_vars=ast.Name() as target)],
                body=body,
            ):
                if context.tir(call.func) == "decl_buffer":
                    return [ast.copy_location(ast.Assign([target], call), statement), *body]
        return None

    return _replace_statements(context, change)


def bound_pointer(context: Context) -> bool:
    """`p: T.handle = value` in a kernel became `p: T.let[T.handle] = value`."""

    def change(statement: ast.stmt) -> list[ast.stmt] | None:
        match statement:
            case ast.AnnAssign(value=ast.expr(), annotation=ast.Attribute(value=script) as annotation):
                if context.tir(annotation) == "handle":
                    let = ast.copy_location(ast.Attribute(script, "let", ast.Load()), annotation)
                    written = ast.Subscript(let, annotation, ast.Load())
                    statement.annotation = ast.copy_location(written, annotation)
                    return [statement]
        return None

    return _replace_statements(context, change)


def _replace_statements(context: Context, change: _Change) -> bool:
    """Replace statements of every function, at any depth; whether there were any."""
    return sum(_replace_in(function, change) for function in context.functions()) > 0


def _replace_in(function: ast.FunctionDef, change: _Change) -> bool:
    changed = False
    for parent in ast.walk(function):
        for block in ("body", "orelse"):
            statements: object = getattr(parent, block, None)
            if not isinstance(statements, list):
                continue
            index = 0
            while index < len(statements):
                replacement = change(statements[index])
                if replacement is not None:
                    statements[index : index + 1] = replacement
                    changed = True
                index += 1
    return changed


RULES = (
    Rule("returned-value", "0.25", returned_value, ("ret",)),
    Rule("allocated-pointer", "0.23", allocated_pointer, ("allocate", "allocate_const")),
    Rule("declared-buffer", "0.23", declared_buffer, ("decl_buffer",)),
    Rule("bound-pointer", "0.23", bound_pointer, ("handle",)),
)
