"""Calls that are written differently today."""

from __future__ import annotations

import ast

from relax_lint.sources.dialects.rule import Context, Rule, calls, keyword, replace_all


def void_dtype(context: Context) -> bool:
    """`out_dtype="void"` meant no dtype."""
    changed = False
    for call in calls(context.root):
        found = keyword(call, "out_dtype")
        if found and isinstance(found.value, ast.Constant) and found.value.value in ("void", ""):
            call.keywords.remove(found)
            changed = True
    return changed


def external_kernel(context: Context) -> bool:
    """`R.call_tir("name", ...)` on a packed function became `R.call_dps_packed`."""
    changed = False
    for call in calls(context.root):
        match call:
            case ast.Call(func=ast.Attribute() as func, args=[ast.Constant(value=str()), *_]):
                if context.relax(func) == "call_tir":
                    func.attr = "call_dps_packed"
                    changed = True
    return changed


def sibling_function(context: Context) -> bool:
    """A function of the module was called by its bare name; now by `Module.name`."""
    if not isinstance(context.root, ast.ClassDef):
        return False
    module = context.root.name
    names = {function.name for function in context.functions()}
    changed = False
    for function in context.functions():
        if context.is_prim_func(function):
            continue
        bound = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        bound |= {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
        bound |= {n.name for n in ast.walk(function) if isinstance(n, ast.FunctionDef) and n is not function}
        free = names - bound

        def change(node: ast.expr, free: set[str] = free) -> ast.expr | None:
            if isinstance(node, ast.Name) and node.id in free and isinstance(node.ctx, ast.Load):
                owner = ast.copy_location(ast.Name(module, ast.Load()), node)
                return ast.Attribute(owner, node.id, ast.Load())
            return None

        for index, statement in enumerate(function.body):
            holder = ast.Module([statement], [])
            changed |= replace_all(holder, change)
            function.body[index] = holder.body[0]
    return changed


def target_string(context: Context) -> bool:
    """`"cuda -arch=sm_80"` as a target became a dictionary."""
    changed = False
    for call in calls(context.root):
        dotted = context.dotted(call.func) or ""
        if not dotted.endswith((".vdevice", ".target", ".Target", ".VDevice")) or not call.args:
            continue
        text = call.args[0]
        if isinstance(text, ast.Constant) and isinstance(text.value, str) and " -" in text.value:
            description = _target(text.value)
            tree = ast.parse(repr(description), mode="eval").body
            for node in ast.walk(tree):
                ast.copy_location(node, text)
            call.args[0] = tree
            changed = True
    return changed


def _target(text: str) -> dict[str, object]:
    kind, *options = text.split()
    result: dict[str, object] = {"kind": kind}
    for option in options:
        name, _, value = option.lstrip("-").partition("=")
        listed = name in ("keys", "mattr", "libs")
        result[name] = value.split(",") if listed else int(value) if value.isdigit() else value
    return result


def pure_flag(context: Context) -> bool:
    """Functions with side effects did not have to say `pure=False`."""
    changed = False
    for function in context.functions():
        if not function.decorator_list or context.is_prim_func(function):
            continue
        decorator = function.decorator_list[-1]
        call = decorator if isinstance(decorator, ast.Call) else ast.Call(decorator, [], [])
        ast.copy_location(call, decorator)
        if context.relax(call.func) != "function" or keyword(call, "pure"):
            continue
        flag = ast.copy_location(ast.Constant(False), decorator)
        call.keywords.append(ast.copy_location(ast.keyword("pure", flag), decorator))
        function.decorator_list[-1] = call
        changed = True
    return changed


RULES = (
    Rule("void-dtype", "0.25", void_dtype),
    Rule("external-kernel", "0.13", external_kernel),
    Rule("sibling-function", "0.13", sibling_function),
    Rule("target-string", "0.23", target_string),
)
PURITY = Rule("pure-flag", "0.13", pure_flag)
