"""Changes of a program that change nothing of what it means."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

DEAD = "dead_code"
OUTER = "outer_call"
_SUFFIX = "_new"
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Changed:
    """The new text, and the old names of what it calls otherwise."""

    content: str
    names: Mapping[str, str]


def modules(tree: ast.Module) -> Iterator[ast.ClassDef]:
    """The classes that are modules."""
    return (node for node in tree.body if isinstance(node, ast.ClassDef))


def relax_functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The functions of Relax, those inside others too."""
    for module in modules(tree):
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef) and _decorator(node).startswith("R.function"):
                yield node


def _decorator(function: ast.FunctionDef) -> str:
    return ast.unparse(function.decorator_list[0]) if function.decorator_list else ""


# -- rename --------------------------------------------------------------------------------------


def renamed(content: str) -> Changed:
    """Other names for every function, variable and symbol of the module."""
    tree = ast.parse(content)
    names: dict[str, str] = {}
    for module in modules(tree):
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef):
                names[node.name] = node.name + _SUFFIX
                names |= {argument.arg: argument.arg + _SUFFIX for argument in node.args.args}
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names[node.id] = node.id + _SUFFIX
    # Symbols that only a shape names.
    for function in relax_functions(tree):
        for argument in function.args.args:
            for node in ast.walk(argument.annotation) if argument.annotation else ():
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and _in_shape(node, argument)
                ):
                    names |= {word: word + _SUFFIX for word in _WORD.findall(node.value)}
    for module in modules(tree):
        _Renamer(names, module.name).visit(module)
    # TVM calls the value of a branch as its `If`, with an ending.
    endings = ("", "_then", "_else")
    return Changed(
        ast.unparse(tree), {new + ending: old + ending for old, new in names.items() for ending in endings}
    )


def _in_shape(constant: ast.Constant, argument: ast.arg) -> bool:
    assert argument.annotation is not None
    return any(
        isinstance(node, ast.Tuple | ast.List) and constant in node.elts
        for node in ast.walk(argument.annotation)
    )


class _Renamer(ast.NodeTransformer):
    """Gives names to what the module binds, wherever it is named."""

    def __init__(self, names: Mapping[str, str], module: str) -> None:
        self._names = names
        self._module = module

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._names[node.name]
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._names[node.arg]
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id in (self._module, "cls"):
            node.attr = self._names.get(node.attr, node.attr)
        return self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        """Perhaps a shape, whose extents may be texts."""
        node.elts = [self._of_text(one) for one in node.elts]
        return self.generic_visit(node)

    def visit_List(self, node: ast.List) -> ast.AST:
        """As a tuple."""
        node.elts = [self._of_text(one) for one in node.elts]
        return self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        """Attributes; bounds have names of symbols."""
        node.keys = [self._of_text(one) if one is not None else None for one in node.keys]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The name by which a kernel is known must be its own."""
        if ast.unparse(node.func) == "T.func_attr":
            node.args = [ast.parse(self._attributes(ast.unparse(node.args[0])), mode="eval").body]
        return self.generic_visit(node)

    def _attributes(self, text: str) -> str:
        return re.sub(r"(?<='global_symbol': ')\w+", lambda match: self._names.get(match[0], match[0]), text)

    def _of_text(self, node: ast.expr) -> ast.expr:
        """With other names, where it is an expression over symbols."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = _WORD.findall(node.value)
            if words and set(words) <= set(self._names):
                return ast.Constant(_WORD.sub(lambda match: self._names[match[0]], node.value))
        return node


# -- split a sum ---------------------------------------------------------------------------------


def split(content: str) -> Changed:
    """`3 * n` as `2 * n + n`, and a plain symbol in a size as `n + 1 - 1`."""
    tree = ast.parse(content)
    for function in relax_functions(tree):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "R.shape":
                node.args = [_Splitter().visit(argument) for argument in node.args]
    return Changed(ast.unparse(ast.fix_missing_locations(tree)), {})


class _Splitter(ast.NodeTransformer):
    """Writes products with a number as sums, and adds what it takes away."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.args = [self.visit(argument) for argument in node.args]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        for number, other in ((node.left, node.right), (node.right, node.left)):
            match number:
                case ast.Constant(value=int(times)) if isinstance(node.op, ast.Mult) and times > 1:
                    return ast.BinOp(ast.BinOp(other, ast.Mult(), ast.Constant(times - 1)), ast.Add(), other)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        one = ast.Constant(1)
        return ast.BinOp(ast.BinOp(node, ast.Add(), one), ast.Sub(), one)


# -- dead code -----------------------------------------------------------------------------------


def with_dead_code(content: str) -> Changed:
    """A shape that nobody uses before every return, and before the first binding."""
    tree = ast.parse(content)
    for number, function in enumerate(relax_functions(tree)):
        first = next(
            (place for place, one in enumerate(function.body) if not _is_declaration(one)), len(function.body)
        )
        for part, place in enumerate((len(function.body) - 1, first)):
            dead = ast.parse(f"{DEAD}_{number}_{part} = R.shape([{number + 1}])").body
            function.body[place:place] = dead
    return Changed(ast.unparse(ast.fix_missing_locations(tree)), {})


def _is_declaration(statement: ast.stmt) -> bool:
    """Whether it must come first: attributes and the declaration of a symbol."""
    text = ast.unparse(statement)
    return text.startswith("R.func_attr") or bool(re.match(r"\w+ = T\.int64\(", text))


# -- reorder -------------------------------------------------------------------------------------


def reordered(content: str) -> Changed:
    """Allocations that follow one another and do not depend on one another, the other way round."""
    tree = ast.parse(content)
    for function in relax_functions(tree):
        for node in ast.walk(function):
            body = getattr(node, "body", None)
            if isinstance(body, list):
                _swap(body)
    return Changed(ast.unparse(tree), {})


def _swap(body: list[ast.stmt]) -> None:
    place = 0
    while place + 1 < len(body):
        one, other = body[place], body[place + 1]
        if _is_allocation(one) and _is_allocation(other) and _target(one) not in _names(other):
            body[place], body[place + 1] = other, one
            place += 1
        place += 1


def _is_allocation(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and ".alloc_" in ast.unparse(statement.value).partition("(")[0]


def _target(statement: ast.stmt) -> str:
    assert isinstance(statement, ast.Assign)
    return ast.unparse(statement.targets[0])


def _names(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


# -- wrap ----------------------------------------------------------------------------------------


def wrapped(content: str) -> Changed:
    """Another function for every public one, which calls it with its own parameters."""
    tree = ast.parse(content)
    for module in modules(tree):
        for function in [one for one in module.body if isinstance(one, ast.FunctionDef)]:
            decorator = _decorator(function)
            if (
                decorator.startswith("R.function")
                and "private" not in decorator
                and function.returns is not None
            ):
                module.body.append(_wrapper(function, module.name))
    return Changed(ast.unparse(ast.fix_missing_locations(tree)), {})


def _wrapper(function: ast.FunctionDef, module: str) -> ast.stmt:
    arguments = ", ".join(argument.arg for argument in function.args.args)
    copy = ast.parse(ast.unparse(function)).body[0]
    assert isinstance(copy, ast.FunctionDef)
    copy.name = f"{OUTER}_{function.name}"
    declared = [one for one in copy.body if re.match(r"\w+ = T\.int64\(", ast.unparse(one))]
    call = ast.parse(f"result = {module}.{function.name}({arguments})").body
    copy.body = [*declared, *call, *ast.parse("def f():\n    return result").body[0].body]  # type: ignore[attr-defined]
    return copy
