"""Calls that are written differently today."""

from __future__ import annotations

import ast

from relax_lint.sources.dialects.rule import Context, Rule, called, keyword, replace_all
from relax_lint.sources.names import IR, TENSOR_FIELD, canonical


def void_dtype(context: Context) -> bool:
    """`out_dtype="void"`, and `dtype="void"` of an operator, meant no dtype."""
    changed = False
    for call in context.calls():
        operator = context.relax(call.func) not in (None, "Tensor")
        for found in (keyword(call, "out_dtype"), keyword(call, "dtype") if operator else None):
            if found and isinstance(found.value, ast.Constant) and found.value.value in ("void", ""):
                call.keywords.remove(found)
                changed = True
    return changed


def external_kernel(context: Context) -> bool:
    """`R.call_tir("name", ...)` on a packed function became `R.call_dps_packed`."""
    changed = False
    for call in context.calls():
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
        nodes = context.nodes(function)
        bound = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        bound |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        bound |= {n.name for n in nodes if isinstance(n, ast.FunctionDef) and n is not function}
        free = names - bound
        if not any(isinstance(n, ast.Name) and n.id in free for n in nodes):
            continue

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
    for call in context.calls():
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


def operator_prefix(context: Context) -> bool:
    """Operators called `tir.x` became `tirx.x`."""
    changed = False
    for call in context.calls():
        match call:
            case ast.Call(args=[ast.Constant(value=str(name)) as text]) if name.startswith("tir."):
                if context.dotted(call.func) == "tvm.ir.Op.get":
                    text.value = "tirx." + name[len("tir.") :]
                    changed = True
    return changed


def typed_call(context: Context) -> bool:
    """`T.Call("bool", operator, arguments)` became `T.Call(operator, arguments, ret_ty="bool")`."""
    changed = False
    for call in context.calls():
        match call:
            case ast.Call(args=[ast.Constant(value=str()) as dtype, _, _]) if (
                context.tir(call.func) == "Call"
            ):
                call.args.remove(dtype)
                call.keywords.append(ast.copy_location(ast.keyword("ret_ty", dtype), dtype))
                changed = True
    return changed


def constant_value(context: Context) -> bool:
    """`scale = T.FloatImm("float32", 0.1)` in a Relax function named a value; now that makes a binding,
    and `I.meta_var(...)` names a value.
    """
    script = next((name for name, dotted in context.imports.items() if canonical(dotted) == IR), None)
    changed = False
    for function in context.functions():
        if script is None or context.is_prim_func(function):
            continue
        for statement in ast.walk(function):
            match statement:
                case ast.Assign(targets=[ast.Name()], value=ast.Call(func=func) as value):
                    if context.tir(func) in ("FloatImm", "IntImm"):
                        meta = ast.Attribute(ast.Name(script, ast.Load()), "meta_var", ast.Load())
                        statement.value = ast.copy_location(ast.Call(meta, [value], []), value)
                        ast.fix_missing_locations(statement)
                        changed = True
    return changed


# Fields of a tensor's header, and the operators that read them at run time.
_FIELDS = {
    "ndim": "tensor_ndim",
    "byte_offset": "tensor_byte_offset",
    "elem_offset": "tensor_elem_offset",
    "dtype.type_code": "tensor_dtype_code",
    "dtype.bits": "tensor_dtype_bits",
    "dtype.lanes": "tensor_dtype_lanes",
}
_INDEXED_FIELDS = {"shape": "tensor_shape_i", "strides": "tensor_stride_i"}


def tensor_fields(context: Context) -> bool:
    """`x.ndim`, `x.shape[0]` and the like of a tensor parameter read its header at run time."""
    changed = False
    for function in context.functions():
        if context.is_prim_func(function):
            continue
        tensors = {a.arg for a in function.args.args if _is_tensor(context, a.annotation)}
        if not any(isinstance(n, ast.expr) and _field(n)[0] is not None for n in context.nodes(function)):
            continue

        def change(node: ast.expr, tensors: set[str] = tensors) -> ast.expr | None:
            operator, operands = _field(node)
            if operator is None or not isinstance(operands[0], ast.Name) or operands[0].id not in tensors:
                return None
            name = ast.copy_location(ast.Constant(operator), node)
            reader = ast.copy_location(ast.Name(TENSOR_FIELD, ast.Load()), node)
            return ast.Call(reader, [name, *operands], [])

        for index, statement in enumerate(function.body):
            holder = ast.Module([statement], [])
            changed |= replace_all(holder, change)
            function.body[index] = holder.body[0]
    return changed


def _is_tensor(context: Context, annotation: ast.expr | None) -> bool:
    return annotation is not None and context.relax(called(annotation)) == "Tensor"


def _field(node: ast.expr) -> tuple[str | None, list[ast.expr]]:
    match node:
        case ast.Attribute(value=ast.Attribute(value=tensor, attr="dtype"), attr=name):
            return _FIELDS.get(f"dtype.{name}"), [tensor]
        case ast.Attribute(value=tensor, attr=name):
            return _FIELDS.get(name), [tensor]
        case ast.Subscript(value=ast.Attribute(value=tensor, attr=name), slice=index):
            return _INDEXED_FIELDS.get(name), [tensor, index]
    return None, []


RULES = (
    Rule("operator-prefix", "0.23", operator_prefix, ("get",)),
    Rule("typed-call", "0.25", typed_call, ("Call",)),
    Rule("constant-value", "0.25", constant_value, ("FloatImm", "IntImm")),
    Rule("tensor-fields", "0.25", tensor_fields),
    Rule("void-dtype", "0.25", void_dtype, ("out_dtype", "dtype")),
    Rule("external-kernel", "0.13", external_kernel, ("call_tir",)),
    Rule("target-string", "0.23", target_string, ("vdevice", "target", "Target", "VDevice")),
)
# The other rules know the functions of a module by the names of members.
SIBLINGS = Rule("sibling-function", "0.13", sibling_function)
PURITY = Rule("pure-flag", "0.13", pure_flag)
