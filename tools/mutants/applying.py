"""Putting a mutant into a process: into functions that exist, or into a module before it is imported."""

from __future__ import annotations

import gc
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tools.mutants.generating import ROOT, Mutant, module_of

Place = tuple[str, str, int]
"""A function: its file, its name, its first line."""


class Functions:
    """Every function of some files that exists in this process, however often and wherever it is bound."""

    def __init__(self, files: Iterable[str]) -> None:
        wanted = {str(ROOT / file) for file in files}
        self._found: dict[Place, list[FunctionType]] = defaultdict(list)
        # What somebody has frozen, as pytest does with what it imported, is not among the objects.
        gc.unfreeze()
        for one in gc.get_objects():
            # `isinstance` asks the object, and a weak reference may have lost what it stands for.
            if type(one) is FunctionType and one.__code__.co_filename in wanted:
                code = one.__code__
                self._found[code.co_filename, code.co_name, code.co_firstlineno].append(one)

    def put(self, mutant: Mutant) -> bool:
        """Let the function of the mutant have the fault; False where that cannot be done here."""
        if mutant.function is None:
            return False
        name, line = mutant.function
        found = self._found.get((str(ROOT / mutant.key.file), name, line), [])
        code = next(
            (one for one in _codes(mutant.compiled()) if (one.co_name, one.co_firstlineno) == (name, line)),
            None,
        )
        if code is None or any(one.__code__.co_freevars != code.co_freevars for one in found):
            return False
        for one in found:
            one.__code__ = code
        return bool(found)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those inside, outermost first."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


class Loader(SourceFileLoader):
    """Loads a module from code that is not that of its file."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        """As it was given."""
        return self._code


class _Finder(MetaPathFinder):
    """Finds the module with the fault."""

    def __init__(self, mutant: Mutant) -> None:
        self._name = module_of(ROOT / mutant.key.file)
        self._path = str(ROOT / mutant.key.file)
        self._code = mutant.compiled()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        loader: Any = Loader(fullname, self._path, self._code)
        return importlib.util.spec_from_file_location(fullname, self._path, loader=loader)


def import_with(mutant: Mutant) -> None:
    """Let the module of the mutant have the fault when it is imported."""
    name = module_of(ROOT / mutant.key.file)
    if name in sys.modules:
        raise RuntimeError(f"{name} was imported already")
    sys.meta_path.insert(0, _Finder(mutant))
