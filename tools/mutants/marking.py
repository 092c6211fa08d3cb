"""Marking what runs: each statement of the engine sets a byte, which costs little more than running it."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import mmap
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType

from tools.mutants.applying import Loader
from tools.mutants.generating import ROOT, module_of

_NAME = "__marks__"
_BODIES = ("body", "orelse", "finalbody")

Place = tuple[str, int, int]
"""What a byte stands for: a file, and the first and the last line of a statement without those inside it."""


class Marks:
    """The bytes, one for each statement. Forks of this process share them."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.places: list[Place] = []
        self._codes = {module_of(file): (file, self._marked(file)) for file in files}
        self._bytes = mmap.mmap(-1, len(self.places) + 1)

    def load(self) -> None:
        """Import the files with their marks."""
        for name in sorted(self._codes):
            if name in sys.modules:
                raise RuntimeError(f"{name} was imported already")
        sys.meta_path.insert(0, _Finder(self._codes, self._bytes))
        for name in sorted(self._codes):
            importlib.import_module(name)

    def own(self) -> None:
        """Let this process, and its forks, have marks that others do not see."""
        self._bytes = mmap.mmap(-1, len(self.places) + 1)
        for name in self._codes:
            setattr(sys.modules[name], _NAME, self._bytes)

    def taken(self) -> Iterator[int]:
        """The places that ran since this was last asked."""
        seen = self._bytes[:]
        self._bytes[:] = bytes(len(seen))
        found = seen.find(1)
        while found >= 0:
            yield found
            found = seen.find(1, found + 1)

    def _marked(self, path: Path) -> CodeType:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        file = path.relative_to(ROOT).as_posix()
        for node in list(ast.walk(tree)):
            for name in _BODIES:
                body = getattr(node, name, None)
                if isinstance(body, list) and body:
                    setattr(node, name, list(self._with_marks(file, body)))
        return compile(tree, str(path), "exec", dont_inherit=True)

    def _with_marks(self, file: str, body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        for place, node in enumerate(body):
            if not _must_be_first(place, node):
                yield _mark(len(self.places), node)
                self.places.append((file, *_lines(node)))
            yield node


def _must_be_first(place: int, node: ast.stmt) -> bool:
    """Whether nothing may stand before a statement: a text for people, or what changes the language."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return place == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _lines(node: ast.stmt) -> tuple[int, int]:
    """The lines of a statement. What stands inside comes later and has places of its own; a text for people
    or an empty line in a function is not run where the function is made.
    """
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(one.lineno for one in decorators)])
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return first, max(node.lineno, node.body[0].lineno - 1)
    return first, node.end_lineno or node.lineno


def _mark(place: int, like: ast.stmt) -> ast.stmt:
    """What sets a byte, where another statement stands."""
    slot = ast.Subscript(ast.Name(_NAME, ast.Load()), ast.Constant(place), ast.Store())
    assigned = ast.Assign([slot], ast.Constant(1))
    return ast.fix_missing_locations(ast.copy_location(assigned, like))


class _Finder(MetaPathFinder):
    """Finds the modules with their marks."""

    def __init__(self, codes: dict[str, tuple[Path, CodeType]], marks: mmap.mmap) -> None:
        self._codes = codes
        self._marks = marks

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._codes:
            return None
        file, code = self._codes[fullname]
        loader = _MarkingLoader(fullname, str(file), code)
        loader.marks = self._marks
        return importlib.util.spec_from_file_location(fullname, file, loader=loader)


class _MarkingLoader(Loader):
    """Gives the module its marks before it runs."""

    marks: mmap.mmap

    def exec_module(self, module: ModuleType) -> None:
        setattr(module, _NAME, self.marks)
        super().exec_module(module)
