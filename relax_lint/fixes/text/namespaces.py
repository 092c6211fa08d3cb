"""What a file calls TVMScript's namespaces, and how it comes by one that it has not imported."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache

from relax_lint.fixes.text.editing import NotEditableError, UnitText
from relax_lint.results.check import Edit
from relax_lint.results.problem import Problem
from relax_lint.sources.names import RELAX, TIR, canonical, chain
from relax_lint.sources.reading import parse_text
from relax_lint.sources.unit import Imported
from relax_lint.support.lazy_dataclass import record

_PRINTED_TIR = "# from tvm.script import "


@record(frozen=True)
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
            parts = chain(function)
            if isinstance(function, ast.Attribute) and function.attr == "function" and parts is not None:
                self._require_meaning(parts[0], definition)
                return ast.unparse(function.value)
        raise NotEditableError("the file does not import Relax's namespace")

    def tir(self, definition: ast.FunctionDef) -> Alias:
        """What a function can call `T`; an import of it where the file has none. Raises NotEditableError."""
        alias = self._tir
        self._require_meaning(alias.name, definition)
        return alias

    def _require_meaning(self, name: str, definition: ast.FunctionDef) -> None:
        """Raise NotEditableError where a name of the file is something else in a function."""
        functions = {part.name for part in self._text.unit.node.body if isinstance(part, ast.FunctionDef)}
        if name in functions or name in _own_names(definition):
            raise NotEditableError(f"`{name}` has another meaning in the function")

    @cached_property
    def _tir(self) -> Alias:
        # A unit may know it by several names.
        for name, entry in sorted(self._text.unit.environment.items(), key=lambda item: item[0] != "T"):
            if isinstance(entry, Imported) and canonical(entry.dotted) == TIR:
                return Alias(name)
        content = self._text.unit.text.content
        tree = parse_text(self._text.unit.text)
        if isinstance(tree, Problem):
            raise NotEditableError(tree.message)
        bound = Counter(_bound_names(tree))
        imported = Counter(name for name, dotted, _ in _imports(tree.body) if canonical(dotted) == TIR)
        for name, times in imported.items():
            if bound[name] == times:
                return Alias(name)
        if "T" in bound or "*" in bound:
            raise NotEditableError("`T` has another meaning in the file")
        commented = [line for line in content.splitlines() if line.startswith(_PRINTED_TIR)]
        if any(line.endswith((" tirx as T", " tir as T")) for line in commented):
            return Alias("T")
        behind = [
            node
            for _, dotted, node in _imports(tree.body)
            if canonical(dotted) == RELAX and node in tree.body
        ]
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        if not behind or "T" in used:
            raise NotEditableError("the file does not import TVMScript's namespace for TIR")
        line = behind[-1].end_lineno or behind[-1].lineno
        module = "tir" if self._is_old else "tirx"
        return Alias("T", (self._text.insert_line_after(line, f"from tvm.script import {module} as T"),))


def _imports(body: list[ast.stmt]) -> Iterator[tuple[str, str, ast.stmt]]:
    """The names that the imports outside definitions bind, what they stand for, and where."""
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}", node
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname is not None:
                    yield alias.asname, alias.name, node
        elif isinstance(node, ast.If | ast.Try):
            handlers = node.handlers if isinstance(node, ast.Try) else []
            inner = [node.body, node.orelse, *(handler.body for handler in handlers)]
            for suite in inner:
                yield from _imports(suite)


def _bound_names(tree: ast.AST) -> Iterator[str]:
    """Every name that something in a tree binds or deletes, each time that it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        else:
            for field in ("name", "arg", "rest"):
                name = getattr(node, field, None)
                if isinstance(name, str):
                    yield name


@lru_cache(maxsize=64)
def _own_names(definition: ast.FunctionDef) -> frozenset[str]:
    """The names that mean something of its own in a function: its parameters, the symbols that their types
    declare in strings, and what its statements bind.
    """
    found = {name for part in (definition.args, *definition.body) for name in _bound_names(part)}
    return frozenset(found | declared_in_strings(definition))


def declared_in_strings(definition: ast.FunctionDef) -> set[str]:
    """The words in the strings of the types of parameters, all symbols among them."""
    found: set[str] = set()
    for argument in definition.args.args:
        for node in ast.walk(argument.annotation) if argument.annotation is not None else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(re.findall(r"[^\W\d]\w*", node.value))
    return found


def is_tir_call(node: ast.expr | None, tir: frozenset[str]) -> bool:
    """Whether an expression is a call below one of the names in `tir`, or several of them."""
    if isinstance(node, ast.Tuple):
        return all(is_tir_call(item, tir) for item in node.elts)
    if not isinstance(node, ast.Call):
        return False
    parts = chain(node.func)
    return parts is not None and parts[0] in tir
