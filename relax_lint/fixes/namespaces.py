"""What a file calls TVMScript's namespaces, and how it comes by one that it has not imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from relax_lint.diagnostic import Edit
from relax_lint.fixes.editing import NotEditableError, UnitText
from relax_lint.sources.names import RELAX, TIR, canonical, chain
from relax_lint.sources.reading import parse_text
from relax_lint.sources.unit import Problem

_PRINTED_TIR = "# from tvm.script import "


@dataclass(frozen=True)
class Alias:
    """How a namespace is written, and the edits after which it is known."""

    name: str
    edits: tuple[Edit, ...] = ()


class Namespaces:
    """The namespaces of one file."""

    def __init__(self, text: UnitText, *, is_old: bool) -> None:
        self._text = text
        self._is_old = is_old

    def relax(self, definition: ast.FunctionDef) -> str:
        """What the decorator of a function calls `R`. Raises NotEditableError."""
        for decorator in definition.decorator_list:
            function = decorator.func if isinstance(decorator, ast.Call) else decorator
            if isinstance(function, ast.Attribute) and function.attr == "function":
                return ast.unparse(function.value)
        raise NotEditableError("the file does not import Relax's namespace")

    @cached_property
    def tir(self) -> Alias:
        """What the file calls `T`; an import of it where it has none. Raises NotEditableError."""
        content = self._text.unit.text.content
        tree = parse_text(self._text.unit.text)
        if isinstance(tree, Problem):
            raise NotEditableError(tree.message)
        imports = list(_imports(tree))
        for name, dotted, _ in imports:
            if canonical(dotted) == TIR:
                return Alias(name)
        commented = [line for line in content.splitlines() if line.startswith(_PRINTED_TIR)]
        if any(line.endswith((" tirx as T", " tir as T")) for line in commented):
            return Alias("T")
        behind = [node for _, dotted, node in imports if canonical(dotted) == RELAX]
        taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        if not behind or "T" in taken:
            raise NotEditableError("the file does not import TVMScript's namespace for TIR")
        line = behind[-1].end_lineno or behind[-1].lineno
        module = "tir" if self._is_old else "tirx"
        return Alias("T", (self._text.insert_line_after(line, f"from tvm.script import {module} as T"),))


def _imports(tree: ast.Module) -> Iterator[tuple[str, str, ast.stmt]]:
    """The names that the imports at the top of a file bind, what they stand for, and where."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}", node
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname is not None:
                    yield alias.asname, alias.name, node


def is_tir_call(node: ast.expr | None, tir: frozenset[str]) -> bool:
    """Whether an expression is a call below one of the names in `tir`, or several of them."""
    if isinstance(node, ast.Tuple):
        return all(is_tir_call(item, tir) for item in node.elts)
    if not isinstance(node, ast.Call):
        return False
    parts = chain(node.func)
    return parts is not None and parts[0] in tir
