"""Constants that TVM's printer left out: `metadata["ir.GenericConst"][0]`, without the metadata.

The number in the brackets names the constant, so one place that tells its type tells it for all places.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from relax_lint.sources.dialects.rule import Context, Rule, calls, keyword, replace_all
from relax_lint.support.lazy_dataclass import record

_KERNEL_CALLS = ("call_tir", "call_tir_inplace", "call_tir_with_grad")


@record(frozen=True)
class _TensorType:
    """The type of a constant, as expressions of the text."""

    shape: ast.expr
    dtype: ast.expr


# The group and the number of an omitted constant.
_Key = tuple[str, int]
# An expression with the type that is expected where it stands, and what expects it: `k` say.
_Expected = tuple[ast.expr, _TensorType | None, str]
# Of how many constants, and of how many functions, an assumption tells.
_MOST_TOLD = 3


def constants(context: Context) -> bool:
    """`metadata["ir.GenericConst"][0]` is a constant that was left out: a place of known type stands for it.

    The type is that of the annotation, which the printer took from the constant. Without one it is assumed to
    be what is expected, by the kernel's buffer or the function's parameter that the constant is passed for,
    or as what the function returns. A constant whose type no place tells stays as it is, and the parser stops
    there.
    """
    known: dict[_Key, _TensorType] = {}
    for value, written in _annotated(context):
        key = _omitted(value)
        if key is not None and written is not None:
            known.setdefault(key, written)
    for found, verb in ((_passed(context), "expect"), (_returned(context), "return")):
        who: dict[_Key, str] = {}
        for value, written, place in found:
            key = _omitted(value)
            if key is not None and key not in known and written is not None:
                known[key], who[key] = written, place
        if who:
            context.assumptions.append(_assumption(who, verb))

    def change(node: ast.expr) -> ast.expr | None:
        found = known.get(_omitted(node) or ("", -1))
        if found is None:
            return None
        metadata = ast.copy_location(ast.Name("metadata", ast.Load()), node)
        name = ast.copy_location(ast.Constant(ast.unparse(node)), node)
        return ast.Call(metadata, [found.shape, found.dtype, name], [])

    return bool(known) and replace_all(context.root, change)


def _omitted(node: ast.expr) -> _Key | None:
    match node:
        case ast.Subscript(
            value=ast.Subscript(value=ast.Name(id="metadata"), slice=ast.Constant(value=str() as group)),
            slice=ast.Constant(value=int() as number),
        ):
            return group, number
    return None


def _assumption(who: Mapping[_Key, str], verb: str) -> str:
    """The text for constants that are assumed to have the types that functions expect, or return."""
    numbers, places = _listed(str(number) for _, number in who), _listed(f"`{one}`" for one in who.values())
    verb = verb if len(set(who.values())) > 1 else verb + "s"
    if len(who) == 1:
        return f"constant {numbers}, which the text omits, has the type that {places} {verb}"
    return f"constants {numbers}, which the text omits, have the types that {places} {verb}"


def _listed(texts: Iterable[str]) -> str:
    """`0`, `0 and 1`, or the first few of many."""
    each = list(dict.fromkeys(texts))
    if len(each) > _MOST_TOLD + 1:
        each = [*each[:_MOST_TOLD], f"{len(each) - _MOST_TOLD} more"]
    return " and ".join((", ".join(each[:-1]), each[-1])) if len(each) > 1 else each[0]


def _relax_functions(context: Context) -> Iterator[ast.FunctionDef]:
    return (function for function in context.functions() if not context.is_prim_func(function))


def _annotated(context: Context) -> Iterator[tuple[ast.expr, _TensorType | None]]:
    """Expressions of the Relax functions with the types of their annotations."""
    for function in _relax_functions(context):
        for node in ast.walk(function):
            if isinstance(node, ast.AnnAssign) and node.value is not None:
                yield from _matched(context, node.annotation, node.value)


def _passed(context: Context) -> Iterator[_Expected]:
    """Arguments of calls to functions of the module, with the types of the parameters."""
    parameters = {function.name: _parameters(context, function) for function in context.functions()}
    for function in _relax_functions(context):
        for call in calls(function):
            arguments, called = _arguments(context, call)
            if called is not None:
                types = zip(arguments, parameters.get(called, ()), strict=False)
                yield from ((argument, written, called) for argument, written in types)


def _returned(context: Context) -> Iterator[_Expected]:
    """What the Relax functions return, with the types that they say they return."""
    waiting: list[tuple[ast.AST, ast.FunctionDef]] = [(one, one) for one in _relax_functions(context)]
    while waiting:
        node, function = waiting.pop(0)
        if isinstance(node, ast.Return) and node.value is not None and function.returns is not None:
            for value, written in _matched(context, function.returns, node.value):
                yield value, written, function.name
        # Of an inner function it is the inner function's type.
        inner = node if isinstance(node, ast.FunctionDef) else function
        waiting += [(child, inner) for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]


def _matched(
    context: Context, annotation: ast.expr, value: ast.expr
) -> Iterator[tuple[ast.expr, _TensorType | None]]:
    """A value with the type of its annotation; the fields of a tuple one by one."""
    if not isinstance(annotation, ast.Call):
        return
    kind = context.relax(annotation.func)
    if kind == "Tensor":
        yield value, _tensor_type(annotation)
    elif kind == "Tuple" and isinstance(value, ast.Tuple):
        for part, field in zip(annotation.args, value.elts, strict=False):
            yield from _matched(context, part, field)


def _arguments(context: Context, call: ast.Call) -> tuple[Sequence[ast.expr], str | None]:
    """The arguments of a call to a function of the module, and the name of that function."""
    arguments: Sequence[ast.expr] = call.args
    called: ast.expr = call.func
    if context.relax(call.func) in _KERNEL_CALLS and len(call.args) > 1:
        called, passed = call.args[0], call.args[1]
        arguments = passed.elts if isinstance(passed, ast.Tuple | ast.List) else [passed]
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        return arguments, called.attr if called.value.id not in context.imports else None
    return arguments, None


def _parameters(context: Context, function: ast.FunctionDef) -> list[_TensorType | None]:
    buffers = _matched_buffers(context, function) if context.is_prim_func(function) else {}
    types: list[_TensorType | None] = []
    for argument in function.args.args:
        annotation = argument.annotation
        written = None
        if isinstance(annotation, ast.Call) and context.relax(annotation.func) == "Tensor":
            written = _tensor_type(annotation)
        elif isinstance(annotation, ast.Call) and context.tir(annotation.func) == "Buffer":
            written = _tensor_type(annotation, "float32")
        types.append(written or buffers.get(argument.arg))
    return types


def _matched_buffers(context: Context, kernel: ast.FunctionDef) -> Mapping[str, _TensorType]:
    """The type of each handle that a kernel opens with `T.match_buffer(handle, shape, dtype)`."""
    found: dict[str, _TensorType] = {}
    for call in calls(kernel):
        if context.tir(call.func) == "match_buffer" and call.args and isinstance(call.args[0], ast.Name):
            written = _tensor_type(ast.Call(call.func, call.args[1:], call.keywords), "float32")
            if written is not None:
                found[call.args[0].id] = written
    return found


def _tensor_type(call: ast.Call, default: str | None = None) -> _TensorType | None:
    """Shape and element type of `R.Tensor(...)` or `T.Buffer(...)`, if the shape is made of numbers."""
    shape = call.args[0] if call.args else None
    dtype = call.args[1] if len(call.args) > 1 else None
    named_shape, named_dtype = keyword(call, "shape"), keyword(call, "dtype")
    shape = named_shape.value if named_shape else shape
    dtype = named_dtype.value if named_dtype else dtype
    if dtype is None and default is not None and shape is not None:
        dtype = ast.copy_location(ast.Constant(default), shape)
    if not isinstance(shape, ast.Tuple | ast.List) or dtype is None:
        return None
    return _TensorType(shape, dtype) if all(map(_is_number, shape.elts)) else None


def _is_number(node: ast.expr) -> bool:
    """`4` or `T.int64(4)`."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


RULES = (Rule("printed-constants", "0.27", constants, ("metadata",)),)
