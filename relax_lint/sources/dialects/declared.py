"""Symbols that are declared in front of the functions that use them: `n = T.dynamic("n", "int64")`, the type
parameters of `def f[n, k: T.int32](...)`. TVM 0.26 and 0.27 want them where they are used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from relax_lint.sources.dialects.erasing import erased
from relax_lint.sources.dialects.rule import Context, Rule, called
from relax_lint.sources.dialects.symbols import quote_symbols
from relax_lint.sources.names import IR, RELAX, TIR, canonical
from relax_lint.sources.newer_python import Declared, declared_by, element_type

DYNAMIC = tuple(f"{dialect}.dynamic" for dialect in (TIR, IR, RELAX))
"""The functions that declare a symbol."""


def declaration(call: ast.expr | None, dotted: str | None) -> str | None:
    """The element type that `T.dynamic("n", "int32")` declares; None for anything else. `dotted` is what the
    call calls.
    """
    if not isinstance(call, ast.Call) or dotted not in DYNAMIC:
        return None
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    return element_type(call.args[1] if len(call.args) > 1 else given.get("dtype"))


def symbols(context: Context) -> bool:
    """`n = T.dynamic("n")` and `def f[n](...)` declare symbols: a Relax signature names them in strings, a
    kernel in the shapes of its `T.match_buffer`, and both as `n = T.int64()` where only the body has them.
    """
    around = {**context.symbols, **_of_class(context)}
    changed = len(around) > len(context.symbols)
    for function in context.functions():
        if context.is_prim_func(function):
            changed |= _in_kernel(context, function, around)
        else:
            changed |= _in_relax(context, function, around)
        changed |= _in_body(context, function)
    return changed


def _of_class(context: Context) -> Declared:
    """The symbols that statements of the module class declare, which are taken out."""
    found: dict[str, str] = {}
    if isinstance(context.root, ast.ClassDef):
        for statement in list(context.root.body):
            if (declared := _declared(context, statement)) is not None:
                found[declared[0]] = declared[1]
                context.root.body.remove(statement)
    return found


def _declared(context: Context, statement: ast.stmt) -> tuple[str, str] | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func) as call):
            dtype = declaration(call, context.dotted(func))
            return None if dtype is None else (name, dtype)
    return None


def _in_body(context: Context, function: ast.FunctionDef) -> bool:
    """`n = T.dynamic("n")` among the statements of a function is `n = T.int64()`."""
    changed = False
    script = _dialect(context)
    for statement in ast.walk(function) if script is not None else ():
        if isinstance(statement, ast.Assign) and (declared := _declared(context, statement)) is not None:
            assert script is not None
            statement.value = _variable(script, declared[1], statement.value)
            changed = True
    return changed


def _in_relax(context: Context, function: ast.FunctionDef, around: Declared) -> bool:
    own = _visible(function, around)
    signature = {name for a in function.args.args for name in _names(a.annotation)} & own.keys()
    if signature:
        quote_symbols(function, signature, _script_name(context))
    bound = {*_assigned(function), *signature}
    inner = {name: dtype for name, dtype in own.items() if name not in bound}
    changed = bool(signature)
    if function.returns is not None and _names(function.returns) & inner.keys():
        # TVM reads the type of the result before the body that would declare the symbol.
        unsaid = inner.keys() - signature
        function.returns = erased(context, function.returns, lambda part: bool(_names(part) & unsaid))
        changed = True
    mentioned = {name for node in _below(function) for name in _names(node)}
    changed |= _introduce(context, function, {n: inner[n] for n in sorted(mentioned & inner.keys())})
    left = {name: dtype for name, dtype in inner.items() if name not in mentioned}
    for node in function.body:
        for child in ast.walk(node):
            if isinstance(child, ast.FunctionDef):
                changed |= _in_relax(context, child, left)
    return changed


def _in_kernel(context: Context, function: ast.FunctionDef, around: Declared) -> bool:
    own = _visible(function, around)
    used = {n for part in (*function.args.args, *function.body) for n in _names(part)}
    used &= own.keys() - _assigned(function)
    if not used:
        return False
    opened = [_opened(context, function, argument, used) for argument in function.args.args]
    function.body[:0] = [statement for statement in opened if statement is not None]
    _introduce(context, function, {name: own[name] for name in sorted(used)})
    return True


def _opened(
    context: Context, function: ast.FunctionDef, argument: ast.arg, symbols: set[str]
) -> ast.stmt | None:
    """`A: T.Buffer((n,), "float32")` as a handle, and the statement that opens it."""
    annotation = argument.annotation
    if not isinstance(annotation, ast.Call) or not isinstance(annotation.func, ast.Attribute):
        return None
    if context.tir(annotation.func) not in ("Buffer", "Tensor") or not _names(annotation) & symbols:
        return None
    script = annotation.func.value
    name = argument.arg
    taken = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    handle = f"{name}_handle"
    while handle in taken:
        handle += "_"
    at = annotation.func
    matching = ast.copy_location(ast.Attribute(script, "match_buffer", ast.Load()), at)
    given = ast.copy_location(ast.Name(handle, ast.Load()), argument)
    call = ast.copy_location(ast.Call(matching, [given, *annotation.args], annotation.keywords), annotation)
    argument.annotation = ast.copy_location(ast.Attribute(script, "handle", ast.Load()), annotation)
    argument.arg = handle
    target = ast.copy_location(ast.Name(name, ast.Store()), argument)
    return ast.copy_location(ast.Assign([target], call), argument)


def _introduce(context: Context, function: ast.FunctionDef, found: Declared) -> bool:
    """Put `n = T.int64()` in front of a body."""
    script = _dialect(context)
    if not found or script is None:
        return False
    at = function.body[0]
    statements: list[ast.stmt] = []
    for name, dtype in found.items():
        target = ast.copy_location(ast.Name(name, ast.Store()), at)
        statement = ast.Assign([target], _variable(script, dtype, at))
        statements.append(ast.copy_location(statement, at))
    function.body[:0] = statements
    return True


def _variable(script: str, dtype: str, at: ast.AST) -> ast.Call:
    name = ast.copy_location(ast.Name(script, ast.Load()), at)
    kind = ast.copy_location(ast.Attribute(name, dtype, ast.Load()), at)
    return ast.copy_location(ast.Call(kind, [], []), at)


def _dialect(context: Context) -> str | None:
    """A name of TIR's dialect that stands for a module of it."""
    return next((name for name, dotted in context.imports.items() if canonical(dotted) == TIR), None)


def _script_name(context: Context) -> str | None:
    """`T`, where it is TIR's dialect: then a string in a shape may call its functions."""
    return "T" if canonical(context.imports.get("T", "")) == TIR else None


def _visible(function: ast.FunctionDef, around: Declared) -> Mapping[str, str]:
    parameters = {argument.arg for argument in function.args.args}
    own = {**around, **declared_by(function)}
    return {name: dtype for name, dtype in own.items() if name not in parameters}


def _assigned(function: ast.FunctionDef) -> set[str]:
    return {n.id for n in _below(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _below(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function's body, without those of inner functions."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


def _names(node: ast.AST | None) -> set[str]:
    """The names that are read in a tree."""
    if node is None:
        return set()
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


# -- names of kernels' memory -----------------------------------------------------------------

_RENAMED = {
    "Tensor": "Buffer",
    "alloc_tensor": "alloc_buffer",
    "sblock_alloc_tensor": "sblock_alloc_buffer",
    "decl_tensor": "decl_buffer",
    "match_tensor": "match_buffer",
}


def kernel_tensors(context: Context) -> bool:
    """`T.Tensor` and `T.alloc_tensor` are `T.Buffer` and `T.alloc_buffer`."""
    changed = False
    for node in context.nodes(context.root):
        if isinstance(node, ast.Attribute) and node.attr in _RENAMED and context.tir(node) in _RENAMED:
            node.attr = _RENAMED[node.attr]
            changed = True
    return changed


def function_decorator(context: Context) -> bool:
    """`@T.function` is `@T.prim_func`."""
    changed = False
    for function in context.functions():
        for decorator in function.decorator_list:
            target = called(decorator)
            if context.tir(target) == "function" and isinstance(target, ast.Attribute):
                target.attr = "prim_func"
                changed = True
    return changed


def schedulable_decorator(context: Context) -> bool:
    """`@Ts.function` and `@Ts.prim_func` are for kernels that can be scheduled: `s_tir=True`."""
    changed = False
    for function in context.functions():
        for index, decorator in enumerate(function.decorator_list):
            target = called(decorator)
            is_kernel = context.tir(target) in ("function", "prim_func")
            if is_kernel and isinstance(target, ast.Attribute) and _is_schedulable(decorator, target):
                call = decorator if isinstance(decorator, ast.Call) else ast.Call(target, [], [])
                ast.copy_location(call, decorator)
                flag = ast.copy_location(ast.Constant(True), decorator)
                call.keywords.append(ast.copy_location(ast.keyword("s_tir", flag), decorator))
                function.decorator_list[index] = call
                changed = True
    return changed


def _is_schedulable(decorator: ast.expr, target: ast.Attribute) -> bool:
    """Whether a decorator is that of `Ts`, the dialect for kernels with blocks, and does not say so."""
    is_named = isinstance(target.value, ast.Name) and target.value.id == "Ts"
    flags = decorator.keywords if isinstance(decorator, ast.Call) else []
    return is_named and all(flag.arg != "s_tir" for flag in flags)


def is_needed(tree: ast.AST) -> bool:
    """Whether a tree may hold what the rules that always apply are for."""
    for node in ast.walk(tree):
        if declared_by(node):
            return True
        if isinstance(node, ast.Attribute) and (node.attr == "dynamic" or _root(node) == "Ts"):
            return True
    return False


def _root(node: ast.expr) -> str:
    return node.value.id if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) else ""


# What 0.27 reads and takes for something else, or does not read in any dialect.
ALWAYS = (
    Rule("schedulable-decorator", "0.27+", schedulable_decorator, ("Ts",)),
    Rule("declared-symbols", "0.27+", symbols),
)
RULES = (
    Rule("function-decorator", "0.27+", function_decorator),
    Rule("kernel-tensors", "0.27+", kernel_tensors),
    *ALWAYS,
)
