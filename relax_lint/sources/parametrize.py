"""Values for the parameters of an enclosing test function: its defaults and its first parametrize values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from relax_lint.support.lazy_dataclass import record

Function = ast.FunctionDef | ast.AsyncFunctionDef


@record(frozen=True)
class Taken:
    """An expression to take for a parameter, and where it was found."""

    node: ast.expr
    source: str


def parameter_names(function: Function) -> list[str]:
    """Every parameter of a function."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    extra = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return [argument.arg for argument in (*named, *extra)]


def taken_value(
    function: Function, name: str, list_of: Callable[[ast.expr], ast.expr | None]
) -> Taken | None:
    """The first parametrize value of a parameter, else its default, else None.

    `list_of` finds the list behind a name, for `parametrize("x", VALUES)`.
    """
    for decorator in function.decorator_list:
        for parameter, node in _parametrized(decorator, list_of):
            if parameter == name:
                return Taken(node, "first parametrize value")
    for parameter, node in _defaults(function.args):
        if parameter == name:
            return Taken(node, "default")
    return None


def declared_value(statement: ast.AST, name: str) -> Taken | None:
    """The first value of `name = tvm.testing.parameter(0, 1)`, by which a file declares a test parameter,
    and of `x, y = tvm.testing.parameters((0, 1), (2, 3))`.
    """
    match statement:
        case ast.Assign(
            targets=[target], value=ast.Call(func=ast.Attribute(attr=kind) as func, args=[first, *_])
        ) if ast.unparse(func) in ("tvm.testing.parameter", "tvm.testing.parameters"):
            if kind == "parameter" and isinstance(target, ast.Name) and target.id == name:
                return Taken(first, "first parameter value")
            if kind == "parameters" and isinstance(target, ast.Tuple) and isinstance(first, ast.Tuple):
                for element, node in zip(target.elts, first.elts, strict=False):
                    if isinstance(element, ast.Name) and element.id == name:
                        return Taken(node, "first parameter value")
    return None


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    if arguments.defaults:
        for argument, node in zip(positional[-len(arguments.defaults) :], arguments.defaults, strict=True):
            yield argument.arg, node
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield argument.arg, default


def _parametrized(
    decorator: ast.expr, list_of: Callable[[ast.expr], ast.expr | None]
) -> Iterator[tuple[str, ast.expr]]:
    """Names and first values of one `pytest.mark.parametrize(names, values)` decorator."""
    if not (isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)):
        return
    if decorator.func.attr != "parametrize":
        return
    given = {keyword.arg: keyword.value for keyword in decorator.keywords}
    names_node = decorator.args[0] if decorator.args else given.get("argnames")
    values = decorator.args[1] if len(decorator.args) > 1 else given.get("argvalues")
    if names_node is None or values is None:
        return
    values = list_of(values)
    if not isinstance(values, ast.List | ast.Tuple) or not values.elts:
        return
    first: ast.expr = values.elts[0]
    if isinstance(first, ast.Call) and isinstance(first.func, ast.Attribute) and first.func.attr == "param":
        first = first.args[0] if len(first.args) == 1 else ast.Tuple(first.args, ast.Load())
    names = _names(names_node)
    if len(names) == 1:
        yield names[0], first
    elif isinstance(first, ast.Tuple | ast.List) and len(first.elts) == len(names):
        yield from zip(names, first.elts, strict=True)


def _names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [name.strip() for name in node.value.split(",") if name.strip()]
    if isinstance(node, ast.Tuple | ast.List):
        return [e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    return []
