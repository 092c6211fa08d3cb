"""Which tests run which lines, kept in `build/mutants/`, and which are chosen for a mutant."""

from __future__ import annotations

import ast
import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tools.mutants.generating import ROOT, Mutant, module_of

_FOLDERS = (
    *("strength", "symbolic", "model", "analysis", "totals", "vm", "rules", "soundness", "memory"),
    *("metamorphic", "programs", "known_bugs", "proofs", "api", "oracle", "fixes", "trophies", "replay"),
    "sources",
)
"""Those that notice most come first: they are recorded first, and the rest may be left for later."""
TESTS = (
    *(f"tests/{name}" for name in _FOLDERS),
    "tests/pages/test_in_process.py",
    "tests/cli/test_policy.py",
)
"""The tests of what is mutated, below any of these."""
MARKS = "not slow and not models"

RECORDED_S = 60.0
"""A test that takes longer is of no use to mutants."""
LIMIT_S = 45.0
"""What the tests of one mutant take together: few mutants get that far, as the first of them notice most."""
NEAR_S = 20.0
"""Those whose files name the mutated module, and those of its package, all run before the others where they
take no longer together.
"""
OVERHEAD_S = 0.004
"""What a test takes besides."""
TOGETHER_S = 3.0
"""Tests of one function that take no longer together all run: they may share what only the first ran."""
_STRONG = "tests/strength/"
FURTHER_S = 25.0
"""What those that compare all that is said of a program take besides, drawn from all that run the line: the
quickest of them are the smallest programs.
"""
_OF_A_TABLE = 200
"""So many tests at most of what a table has no more come first."""
_STRONG_AT_ONCE = 4
"""So many tests that compare all that is said of a program come where one of another function does."""
_AT_ONCE = (8, 4, 1)
"""The same of a test whose file names the module, of one of the package, and of any other."""


def digest(path: Path) -> str:
    """What tells the text of a file from an earlier one."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


@dataclass
class Lines:
    """The lines of one file: which tests run each, as a number with a bit for each test."""

    sha: str
    tests: dict[int, int] = field(default_factory=dict)
    imported: list[int] = field(default_factory=list)


@dataclass
class Record:
    """What the tests were seen to run."""

    names: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    files: dict[str, Lines] = field(default_factory=dict)
    test_files: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    """Tests that fail where they are recorded, so that nothing is known of them."""

    @classmethod
    def read(cls, path: Path) -> Record:
        """From a file; empty where there is none."""
        if not path.exists():
            return cls()
        data = json.loads(path.read_text(encoding="utf-8"))
        files = {
            name: Lines(one["sha"], {int(k): int(v, 16) for k, v in one["tests"].items()}, one["imported"])
            for name, one in data["files"].items()
        }
        return cls(data["names"], data["seconds"], files, data["test_files"], data["failed"])

    def write(self, path: Path) -> None:
        """Into a file."""
        files: dict[str, Any] = {
            name: {
                "sha": one.sha,
                "tests": {k: f"{v:x}" for k, v in one.tests.items()},
                "imported": one.imported,
            }
            for name, one in self.files.items()
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        data = {
            "names": self.names,
            "seconds": self.seconds,
            "files": files,
            "test_files": self.test_files,
            "failed": self.failed,
        }
        path.write_text(json.dumps(data), encoding="utf-8")

    def stale_tests(self) -> list[str]:
        """Files of tests that changed since, are new or are gone."""
        now = {path.relative_to(ROOT).as_posix(): digest(path) for path in test_files(TESTS)}
        return sorted(
            name for name in now.keys() | self.test_files if self.test_files.get(name) != now.get(name)
        )

    def without(self, test_files: Iterable[str]) -> Record:
        """As if the tests of some files had not been seen."""
        gone = set(test_files)
        kept = [i for i, name in enumerate(self.names) if name.partition("::")[0] not in gone]
        place = {old: new for new, old in enumerate(kept)}
        files = {}
        for name, lines in self.files.items():
            tests = {line: _moved(bits, place) for line, bits in lines.tests.items()}
            files[name] = Lines(lines.sha, tests, lines.imported)
        return Record(
            [self.names[i] for i in kept],
            [self.seconds[i] for i in kept],
            files,
            {name: sha for name, sha in self.test_files.items() if name not in gone},
            [name for name in self.failed if name.partition("::")[0] not in gone],
        )

    def add(self, other: Record) -> None:
        """What was seen of other tests. The lines of a file are those of its later text."""
        shift = len(self.names)
        self.names += other.names
        self.seconds += other.seconds
        self.test_files |= other.test_files
        self.failed += other.failed
        for name, lines in other.files.items():
            mine = self.files.setdefault(name, Lines(lines.sha))
            if mine.sha != lines.sha:
                # Where which line went is not known: whoever ran the file runs all of it.
                everybody = _all(mine.tests.values())
                mine.tests = dict.fromkeys(range(1, len(_text(ROOT / name).splitlines()) + 1), everybody)
                mine.sha = lines.sha
            for line, bits in lines.tests.items():
                mine.tests[line] = mine.tests.get(line, 0) | bits << shift
            mine.imported = sorted({*lines.imported})

    def chosen(self, mutant: Mutant) -> list[str]:
        """The tests for a mutant: of its line, then of its function, as far as the limit goes. What tests do
        not run, as it counts when it is imported, has those that run a function which a table has no more
        with it, those of the lines that use what is defined there, those whose files name its module, and its
        users'.
        """
        lines = self.files.get(mutant.key.file)
        if lines is None:
            return []
        changed = lines.sha != digest(ROOT / mutant.key.file)
        inside = range(mutant.body[0], mutant.body[1] + 1)
        near = 0 if changed else lines.tests.get(mutant.lineno, 0)
        around = _all(lines.tests.values() if changed else (lines.tests.get(n, 0) for n in inside))
        file = mutant.key.file
        found = self._likeliest(self._together(near) if near and not changed else around, file)
        found += self._drawn(near or around, found, f"{file}:{mutant.lineno}")
        if near or not self.is_imported(mutant):
            return found
        groups = (
            self._of_functions(mutant.lost),
            self._of_uses(mutant),
            self._naming(file),
            self._of_users(file),
        )
        lost, used, named, users = (self._likeliest(bits, file) for bits in groups)
        return list(dict.fromkeys([*lost[:_OF_A_TABLE], *used, *named, *found, *users]))

    def _of_functions(self, names: frozenset[str]) -> int:
        """The tests that run functions with some names: what a table of handlers leads to."""
        return _all(
            lines.tests.get(line, 0)
            for name, lines in (self.files.items() if names else ())
            for line in first_lines(_text(ROOT / name), names)
        )

    def _of_uses(self, mutant: Mutant) -> int:
        """The tests that run a line which names what the statement of a mutant defines in its module."""
        path = ROOT / mutant.key.file
        defined = defined_at(_text(path), mutant.lineno)
        module, found = module_of(path), 0
        for name, lines in self.files.items():
            if name == mutant.key.file or _names(ROOT / name, module):
                found |= _all(lines.tests.get(line, 0) for line in naming_lines(_text(ROOT / name), defined))
        return found

    def _naming(self, file: str) -> int:
        """The tests whose files name a module of the engine, or are called like it."""
        module, stem = module_of(ROOT / file), Path(file).stem
        named = {name for name in self.test_files if stem in Path(name).stem or _names(ROOT / name, module)}
        return sum(1 << i for i, name in enumerate(self.names) if name.partition("::")[0] in named)

    def _of_users(self, file: str) -> int:
        """The tests of the modules of the engine that name one of them."""
        module = module_of(ROOT / file)
        users = (lines for name, lines in self.files.items() if name != file and _names(ROOT / name, module))
        return _all(bits for lines in users for bits in lines.tests.values())

    def is_imported(self, mutant: Mutant) -> bool:
        """Whether the function of a mutant runs when its module is imported, as far as that is known."""
        lines = self.files.get(mutant.key.file)
        if mutant.function is None or lines is None:
            return True
        if lines.sha != digest(ROOT / mutant.key.file):
            return False
        inside = range(mutant.body[0], mutant.body[1] + 1)
        return any(n in inside for n in lines.imported)

    def _together(self, bits: int) -> int:
        """And the other tests of the same functions."""
        functions: dict[str, list[int]] = defaultdict(list)
        for place, name in enumerate(self.names):
            functions[_function(name)].append(place)
        for places in functions.values():
            if any(bits >> i & 1 for i in places) and sum(self.seconds[i] for i in places) <= TOGETHER_S:
                bits |= sum(1 << i for i in places)
        return bits

    def _likeliest(self, bits: int, file: str) -> list[str]:
        """One test of each function, then a second one of each: they differ the most. Those come first whose
        files name the module, then those of the package, then the quickest. What does not fit into the limit
        is left out.
        """
        rounds: Counter[str] = Counter()
        ordered: list[tuple[int, int, float, int]] = []
        named = self._naming(file)
        own = {place for place in _places(bits & named) if not self.names[place].startswith(_STRONG)}
        near = {place for place in _places(bits) if self.names[place].startswith(_folder_of(file))}
        at_first = {place for some in (own, near) if self._seconds(some) <= NEAR_S for place in some}
        for place in sorted(_places(bits), key=self.seconds.__getitem__):
            function = _function(self.names[place])
            distance = 0 if named >> place & 1 else 1 if place in near else 2
            at_once = _STRONG_AT_ONCE if function.startswith(_STRONG) else _AT_ONCE[distance]
            turn = 0 if place in at_first else rounds[function] // at_once
            rounds[function] += 1
            ordered.append((turn, distance, self.seconds[place], place))
        found: list[str] = []
        spent = 0.0
        for *_, seconds, place in sorted(ordered):
            if not found or spent + seconds + OVERHEAD_S <= LIMIT_S:
                spent += seconds + OVERHEAD_S
                found.append(self.names[place])
        return found

    def _drawn(self, bits: int, taken: Iterable[str], seed: str) -> Iterator[str]:
        """More of the tests that compare all that is said of a program, as far as their limit goes."""
        known, left = set(taken), FURTHER_S
        others = [
            i for i in _places(bits) if self.names[i].startswith(_STRONG) and self.names[i] not in known
        ]
        random.Random(seed).shuffle(others)
        for place in others:
            left -= self.seconds[place] + OVERHEAD_S
            if left < 0:
                return
            yield self.names[place]

    def _seconds(self, places: Iterable[int]) -> float:
        """What some tests take together."""
        return sum(self.seconds[place] for place in places)

    def time_of(self, names: Sequence[str]) -> dict[str, float]:
        """How long each test takes without a fault, in seconds."""
        known = dict(zip(self.names, self.seconds, strict=True))
        return {name: known.get(name, 1.0) for name in names}


def _folder_of(file: str) -> str:
    """Where the tests of the package lie that a file of the engine is in."""
    return "/".join(["tests", *(Path(file).parent.parts[1:2] or (file,)), ""])


def usefulness(file: str) -> tuple[int, str]:
    """A place in the order in which files of tests are recorded."""
    folder = file.split("/")[1]
    return _FOLDERS.index(folder) if folder in _FOLDERS else len(_FOLDERS), file


def test_files(folders: Iterable[str]) -> Iterator[Path]:
    """The files of tests among files and folders."""
    for name in folders:
        path = ROOT / name
        yield from [path] if path.is_file() else path.rglob("test_*.py")


def defined_at(text: str, lineno: int) -> frozenset[str]:
    """The names that the statement of a module at a line gives a value, and the classes and functions."""
    for node in _tree(text).body:
        if node.lineno <= lineno <= (node.end_lineno or node.lineno):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                return frozenset([node.name])
            stored = (one for one in ast.walk(node) if isinstance(one, ast.Name))
            return frozenset(one.id for one in stored if isinstance(one.ctx, ast.Store))
    return frozenset()


def naming_lines(text: str, names: frozenset[str]) -> list[int]:
    """The lines that name one of some names."""
    return sorted({node.lineno for node in _loaded(text) if node.id in names})


def first_lines(text: str, names: frozenset[str]) -> list[int]:
    """The first lines of the bodies of functions with some names, behind what is said of them."""
    functions = (node for node in ast.walk(_tree(text)) if isinstance(node, ast.FunctionDef))
    found = (node.body[ast.get_docstring(node) is not None :] for node in functions if node.name in names)
    return sorted(body[0].lineno for body in found if body)


@cache
def _loaded(text: str) -> tuple[ast.Name, ...]:
    named = (node for node in ast.walk(_tree(text)) if isinstance(node, ast.Name))
    return tuple(node for node in named if isinstance(node.ctx, ast.Load))


@cache
def _tree(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _names(path: Path, module: str) -> bool:
    """Whether a file imports from a module."""
    return f"from {module} import" in _text(path)


def _function(test: str) -> str:
    """What tests that are alike share: their function, and the family of programs in those of strength."""
    function, _, example = test.partition("[")
    return f"{function}[{example.partition('-')[0]}" if function.startswith(_STRONG) else function


def _places(bits: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _moved(bits: int, place: dict[int, int]) -> int:
    return sum(1 << place[old] for old in _places(bits) if old in place)


def _all(numbers: Iterable[int]) -> int:
    found = 0
    for number in numbers:
        found |= number
    return found
