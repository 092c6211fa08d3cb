"""Symbols: primitive values, the variables of a kernel call, type parameters."""

from __future__ import annotations

import ast

from relax_lint.sources.dialects.rule import Context, Rule, calls, drop_keyword, keyword, replace_all
from relax_lint.sources.names import is_reserved
from relax_lint.sources.vocabulary import BUILTIN_NAMES


def primitive_values(context: Context) -> bool:
    """`p: R.Prim(value="n")` named a symbol that equals the parameter: now the parameter is the symbol.

    The parameter takes the symbol's name, unless a shape before it has declared that symbol or another
    parameter has that name: of several that equal one symbol it is the first. Elsewhere the value says
    nothing that the type has to repeat.
    """
    changed = False
    functions = [n for f in context.functions() for n in ast.walk(f) if isinstance(n, ast.FunctionDef)]
    # Inner functions first: what they rename is theirs alone.
    for function in reversed(functions):
        renamed = {}
        declared = {argument.arg for argument in function.args.args}
        for argument in function.args.args:
            declared |= _declared_symbols(context, argument.annotation)
            value = _primitive_value(context, argument.annotation)
            if (
                isinstance(value, ast.Constant)
                and isinstance(value.value, str)
                and value.value.isidentifier()
                and value.value not in declared - {argument.arg}
                and not _has_meaning(context, value.value)
            ):
                renamed[argument.arg] = value.value
                argument.arg = value.value
                declared.add(value.value)
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in renamed:
                node.id = renamed[node.id]
        for call in calls(function):
            if context.relax(call.func) == "Prim" and drop_keyword(call, "value"):
                if not call.args and keyword(call, "dtype") is None:
                    call.args.append(ast.copy_location(ast.Constant("int64"), call))
                changed = True
    return changed


def _has_meaning(context: Context, name: str) -> bool:
    """Whether a name stands for more than a symbol. The gate has looked already: nothing may bind it now."""
    return name in context.imports or name in BUILTIN_NAMES or is_reserved(name)


def _declared_symbols(context: Context, node: ast.expr | None) -> set[str]:
    """The extents of a tensor's or shape's type that are nothing but a symbol."""
    if not isinstance(node, ast.Call) or context.relax(node.func) not in ("Tensor", "Shape") or not node.args:
        return set()
    extents = node.args[0].elts if isinstance(node.args[0], ast.Tuple | ast.List) else []
    return {e.value for e in extents if isinstance(e, ast.Constant) and isinstance(e.value, str)}


def _primitive_value(context: Context, node: ast.expr | None) -> ast.expr | None:
    if isinstance(node, ast.Call) and context.relax(node.func) == "Prim":
        found = keyword(node, "value")
        return found.value if found is not None else None
    return None


_KERNEL_CALLS = (
    "call_tir",
    "call_tir_inplace",
    "call_tir_with_grad",
    "dist.call_tir",
    "dist.call_tir_local_view",
)


def kernel_variables(context: Context) -> bool:
    """`R.call_tir(f, (x,), out, tir_vars=R.shape([n]))` passes `n` after the inputs now.

    The kernel took inputs, outputs, variables and takes inputs, variables, outputs: its parameters are
    permuted with the call.
    """
    changed = False
    permuted: set[str] = set()
    for call in context.calls():
        if context.relax(call.func) not in _KERNEL_CALLS:
            continue
        variables = _take_variables(context, call)
        if variables is None or len(call.args) < 2:
            continue
        inputs = call.args[1]
        if isinstance(inputs, ast.Call) and context.relax(inputs.func) == "tuple":
            elements = inputs.args
        else:
            elements = inputs.elts if isinstance(inputs, ast.Tuple | ast.List) else [inputs]
        call.args[1] = ast.copy_location(ast.Tuple([*elements, *variables], ast.Load()), inputs)
        changed = True
        kernel = call.args[0].attr if isinstance(call.args[0], ast.Attribute) else None
        function = next((f for f in context.functions() if f.name == kernel), None)
        if function is not None and function.name not in permuted:
            permuted.add(function.name)
            parameters = function.args.args
            first, last = len(elements), len(parameters) - len(variables)
            # A kernel that takes a handle last has the order of today already.
            if all(context.is_scalar(parameter.annotation) for parameter in parameters[last:]):
                parameters[first:] = [*parameters[last:], *parameters[first:last]]
    return changed


def _take_variables(context: Context, call: ast.Call) -> list[ast.expr] | None:
    found = keyword(call, "tir_vars")
    if found is not None:
        call.keywords.remove(found)
        shape = found.value
    elif context.relax(call.func) == "call_tir" and len(call.args) == 4:
        shape = call.args.pop()
    else:
        return None
    values = shape.args[0] if isinstance(shape, ast.Call) and shape.args else shape
    return list(values.elts) if isinstance(values, ast.Tuple | ast.List) else None


def quote_symbols(function: ast.FunctionDef, symbols: set[str], script: str | None = None) -> None:
    """Write the extents of a signature that mention `symbols` as strings, as TVM up to 0.26 wants them.
    `script` is a name whose functions may be called in such strings.
    """

    def change(node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.Tuple | ast.List):
            return None
        elements: list[ast.expr] = []
        for element in node.elts:
            names = {child.id for child in ast.walk(element) if isinstance(child, ast.Name)}
            plain = all(_is_plain(child, script) for child in ast.walk(element))
            if names & symbols and plain:
                element = ast.copy_location(ast.Constant(ast.unparse(element)), element)
            elements.append(element)
        return type(node)(elements, node.ctx)

    for argument in function.args.args:
        if argument.annotation is not None:
            holder = ast.Expr(argument.annotation)
            replace_all(holder, change)
            argument.annotation = holder.value
    if function.returns is not None:
        holder = ast.Expr(function.returns)
        replace_all(holder, change)
        function.returns = holder.value


def _is_plain(node: ast.AST, script: str | None) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=root)):
            return root == script
    return not isinstance(node, ast.Attribute | ast.Tuple)


RULES = (
    Rule("primitive-values", "0.25", primitive_values, ("Prim",)),
    Rule(
        "kernel-variables",
        "0.25",
        kernel_variables,
        ("call_tir", "call_tir_inplace", "call_tir_with_grad", "call_tir_local_view"),
    ),
)
