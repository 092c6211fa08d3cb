"""The mutants of a file: every fault at every node that is code."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

from tools.mutants.operators import faults

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    *("relax_lint/analysis", "relax_lint/facts", "relax_lint/symbolic", "relax_lint/model"),
    *("relax_lint/vm", "relax_lint/totals"),
)
"""What is mutated: the engine, below the rules and above TVM."""

_SHOWN = 110
_GENERIC = (
    "Callable",
    "Mapping",
    "Sequence",
    "Iterator",
    "dict",
    "frozenset",
    "list",
    "set",
    "tuple",
    "type",
)
"""With brackets behind them a type."""
_NO_CODE = ("annotation", "returns", "decorator_list", "type_comment", "type_params")


@dataclass(frozen=True)
class Key:
    """What tells a mutant from others of its file, however the lines move."""

    file: str
    operator: str
    line: str
    """The source line of the node, without white space around it."""
    fault: str
    """What stands where what stood, as `before -> after`."""
    number: int = 0
    """Counted from 0 among mutants that are otherwise the same."""

    def rank(self, seed: int) -> str:
        """A place in an order that one more mutant does not change."""
        return hashlib.sha256(f"{seed} {self}".encode()).hexdigest()


@dataclass(frozen=True)
class Site:
    """A field of a node that holds what is replaced."""

    parent: ast.AST
    field: str
    index: int | None

    def put(self, node: ast.AST) -> None:
        """Let it hold the node."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


@dataclass(frozen=True)
class Mutant:
    """One fault. `function` is the outermost function that it is in, by name and first line."""

    key: Key
    lineno: int
    function: tuple[str, int] | None
    body: tuple[int, int]
    """The first and the last line of the body of that function, else of the file."""
    _tree: ast.Module = field(repr=False, compare=False)
    _site: Site = field(repr=False, compare=False)
    _before: ast.AST = field(repr=False, compare=False)
    _after: ast.AST = field(repr=False, compare=False)

    def compiled(self) -> CodeType:
        """The module with the fault. Raises SyntaxError or ValueError where that is no program."""
        self._site.put(self._after)
        try:
            return compile(self._tree, str(ROOT / self.key.file), "exec", dont_inherit=True)
        finally:
            self._site.put(self._before)

    @property
    def lost(self) -> frozenset[str]:
        """What is named where the fault is, and not any more with it."""
        before, after = (
            {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            for node in (self._before, self._after)
        )
        return frozenset(before - after)

    def text(self) -> str:
        """The module with the fault, without its comments."""
        self._site.put(self._after)
        try:
            return ast.unparse(self._tree)
        finally:
            self._site.put(self._before)


@dataclass(frozen=True)
class _Within:
    """Where a node is."""

    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    returns: str = ""


def python_files(names: Sequence[str]) -> list[Path]:
    """The files with code among files and folders, by their paths below the root."""
    found = {
        file
        for name in names
        for file in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"))
    }
    return sorted(file for file in found if file.name != "__init__.py")


def module_of(path: Path) -> str:
    """The name by which a file is imported."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def mutants(path: Path) -> list[Mutant]:
    """Every mutant of a file, in the order of the text."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines = text.splitlines()
    found: list[Mutant] = []
    seen: dict[Key, int] = {}
    for site, node, within in _nodes(tree, _Within()):
        for operator, fault in faults(node, site.parent, within.returns):
            after = ast.fix_missing_locations(ast.copy_location(fault, node))
            lineno = _line(node, site.parent)
            key = Key(
                path.relative_to(ROOT).as_posix(),
                operator,
                lines[lineno - 1].strip(),
                f"{_shown(node)} -> {_shown(after)}",
            )
            number = seen.get(key, 0)
            seen[key] = number + 1
            function = within.function
            body = (function.body[0].lineno, function.end_lineno or 0) if function else (1, len(lines))
            found.append(
                Mutant(
                    Key(key.file, operator, key.line, key.fault, number),
                    lineno,
                    (function.name, _first_line(function)) if function else None,
                    body,
                    tree,
                    site,
                    node,
                    after,
                )
            )
    return sorted(found, key=lambda mutant: mutant.lineno)


def _line(node: ast.AST, parent: ast.AST) -> int:
    """The line of a node; a case and a comprehension have none of their own."""
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    if isinstance(node, ast.comprehension):
        return node.target.lineno
    return int(getattr(node, "lineno", getattr(parent, "lineno", 1)))


def _first_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """As its code object has it."""
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


def _shown(node: ast.AST) -> str:
    """A node on one line."""
    if isinstance(node, ast.match_case):
        guard = f" if {ast.unparse(node.guard)}" if node.guard is not None else ""
        text = f"case {ast.unparse(node.pattern)}{guard}"
    elif isinstance(node, ast.If | ast.While | ast.For):
        text = ast.unparse(node).partition("\n")[0] + (" ... break" if _breaks(node) else "")
    else:
        text = " ".join(ast.unparse(node).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _breaks(node: ast.AST) -> bool:
    return isinstance(node, ast.For) and isinstance(node.body[-1], ast.Break)


def _nodes(parent: ast.AST, within: _Within) -> Iterator[tuple[Site, ast.AST, _Within]]:
    """Every node below that is code, with where it stands."""
    for name, value in ast.iter_fields(parent):
        if name in _NO_CODE:
            continue
        inside = _below(parent, name, within)
        for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(child, ast.AST) and not _is_no_code(child):
                yield Site(parent, name, index), child, inside
                yield from _nodes(child, inside)


def _below(parent: ast.AST, name: str, within: _Within) -> _Within:
    """Where the nodes of a field are."""
    if not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) or name != "body":
        return within
    returns = ast.unparse(parent.returns) if parent.returns is not None else ""
    return _Within(within.function or parent, returns)


def _is_no_code(node: ast.AST) -> bool:
    """Texts for people, types, and what only a type checker or a person who debugs reads."""
    if isinstance(node, ast.Assert | ast.Raise | ast.JoinedStr | ast.pattern | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target: Any = node.targets[0] if isinstance(node, ast.Assign) else node.target
        alias = isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation)
        return (
            alias
            or _is_generic(node.value)
            or (isinstance(target, ast.Name) and target.id in ("__all__", "__slots__"))
        )
    return isinstance(node, ast.keyword) and node.arg == "repr"


def _is_generic(value: ast.expr | None) -> bool:
    """Whether it is a type with the types of its parts, `tuple[int, ...]`."""
    name = value.value if isinstance(value, ast.Subscript) else None
    return isinstance(name, ast.Name) and name.id in _GENERIC
