"""TIR as it was written before 0.26: blocks, buffers, variables."""

from __future__ import annotations

import ast

from relax_lint.sources.dialects.rule import Context, Rule, called, calls, drop_keyword, keyword, replace_all

_BLOCK_NAMES = {
    "block": "sblock",
    "block_attr": "sblock_attr",
    "alloc_buffer": "sblock_alloc_buffer",
}


_FLAGS = ("tirx.noalias", "tirx.is_host_func", "relax.force_pure")


def blocks(context: Context) -> bool:
    """`T.block` became `T.sblock`; a function with blocks allocates its buffers in them."""
    changed = False
    for function in context.functions():
        attributes = [n for n in ast.walk(function) if isinstance(n, ast.Attribute)]
        used = {context.tir(node): node for node in attributes}
        if "block" not in used and not ("alloc_buffer" in used and "sblock" in used):
            continue
        for node in attributes:
            name = context.tir(node)
            if name in _BLOCK_NAMES:
                node.attr = _BLOCK_NAMES[name]
                changed = True
    return changed


def schedulable(context: Context) -> bool:
    """A TIR function with blocks says `s_tir=True`."""
    changed = False
    for function in context.functions():
        if not context.is_prim_func(function) or not function.decorator_list:
            continue
        with_blocks = any(context.tir(c.func) == "sblock" for c in calls(function))
        decorator = function.decorator_list[-1]
        if not with_blocks:
            continue
        if isinstance(decorator, ast.Call) and keyword(decorator, "s_tir"):
            continue
        call = decorator if isinstance(decorator, ast.Call) else ast.Call(called(decorator), [], [])
        ast.copy_location(call, decorator)
        flag = ast.copy_location(ast.Constant(True), decorator)
        call.keywords.append(ast.copy_location(ast.keyword("s_tir", flag), decorator))
        function.decorator_list[-1] = call
        changed = True
    return changed


def declared_variable(context: Context) -> bool:
    """`T.var("int64")`, and `T.Var("n", "int64")` in a Relax function, became `T.int64()`."""
    kernels = [f for f in context.functions() if context.is_prim_func(f)]
    inside = {node for kernel in kernels for node in ast.walk(kernel)}

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(
                func=ast.Attribute() as func, args=[ast.Constant(), ast.Constant(value=str() as dtype)]
            ):
                if context.tir(func) == "Var" and node not in inside:
                    return ast.Call(
                        ast.copy_location(ast.Attribute(func.value, dtype, ast.Load()), func), [], []
                    )
            case ast.Call(func=ast.Attribute() as func, args=[ast.Constant(value=str() as dtype)]):
                if context.tir(func) == "var":
                    return ast.Call(
                        ast.copy_location(ast.Attribute(func.value, dtype, ast.Load()), func), [], []
                    )
        return None

    return replace_all(context.root, change)


def size_variable(context: Context) -> bool:
    """`T.int64(is_size_var=True)`: the distinction is gone."""
    dropped = [drop_keyword(call, "is_size_var") for call in context.calls()]
    return any(dropped)


def axis_separators(context: Context) -> bool:
    """`axis_separators=` of buffers and layout transforms is gone."""
    changed = [drop_keyword(call, "axis_separators") for call in context.calls()]
    changed += [
        drop_keyword(call, "input_axis_separators")
        for call in context.calls()
        if context.relax(call.func) == "layout_transform"
    ]
    return any(changed)


def attribute_prefix(context: Context) -> bool:
    """Function attributes called `tir.x` became `tirx.x`."""
    changed = False
    for call in context.calls():
        if context.tir(call.func) != "func_attr":
            continue
        for node in ast.walk(call):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and node.value.startswith("tir.")
            ):
                node.value = "tirx." + node.value[len("tir.") :]
                changed = True
    return changed


def attribute_flags(context: Context) -> bool:
    """`"tirx.noalias": T.bool(True)` and `"relax.force_pure": 1` became `True`."""
    changed = False
    for call in context.calls():
        for table in call.args:
            if isinstance(table, ast.Dict) and isinstance(call.func, ast.Attribute):
                if call.func.attr != "func_attr":
                    continue
                flags = [_flag(context, *entry) for entry in zip(table.keys, table.values, strict=True)]
                table.values = [flag or value for flag, value in zip(flags, table.values, strict=True)]
                changed = changed or any(flags)
    return changed


def _flag(context: Context, key: ast.expr | None, value: ast.expr) -> ast.Constant | None:
    """The truth value that an entry of function attributes has had written otherwise."""
    if not isinstance(key, ast.Constant) or key.value not in _FLAGS:
        return None
    match value:
        case ast.Call(func=func, args=[ast.Constant(value=bool() | 0 | 1 as flag)]):
            if context.tir(func) != "bool":
                return None
        case ast.Constant(value=int() as flag) if not isinstance(flag, bool) and flag in (0, 1):
            pass
        case _:
            return None
    return ast.copy_location(ast.Constant(bool(flag)), value)


RULES = (
    Rule("blocks", "0.23", blocks, ("block", "alloc_buffer")),
    Rule("declared-variable", "0.12", declared_variable, ("Var", "var")),
    Rule("size-variable", "0.25", size_variable, ("is_size_var",)),
    Rule("axis-separators", "0.25", axis_separators, ("axis_separators", "input_axis_separators")),
    Rule("attribute-prefix", "0.23", attribute_prefix, ("func_attr",)),
    Rule("attribute-flags", "0.23", attribute_flags, ("func_attr",)),
    Rule("schedulable", "0.24", schedulable, ("sblock",)),
)
