"""Which statements ran: the marks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tools.mutants import generating, marking
from tools.mutants.marking import Marks

CODE = '''"""A text."""

from __future__ import annotations


def f(a):
    """Another."""
    if a > 1:
        return (
            a)
    elif a:
        b = [
            c for c in range(a)
        ]
    else:
        b = []
    match b:
        case [x]:
            return x
    return b
'''


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Marks, ModuleType]]:
    for module in (generating, marking):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    path = tmp_path / "code_with_marks.py"
    path.write_text(CODE, encoding="utf-8")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    marks = Marks([path])
    marks.load()
    yield marks, sys.modules[path.stem]
    del sys.modules[path.stem]


def _lines(marks: Marks) -> list[tuple[int, int]]:
    return [marks.places[place][1:] for place in marks.taken()]


def test_an_import_runs_what_is_outside_of_functions(loaded: tuple[Marks, ModuleType]) -> None:
    assert _lines(loaded[0]) == [(6, 6)]


@pytest.mark.parametrize(
    ("argument", "expected", "ran"),
    [
        (2, 2, [(8, 16), (9, 10)]),
        (1, 0, [(8, 16), (11, 16), (12, 14), (17, 19), (19, 19)]),
        (0, [], [(8, 16), (11, 16), (16, 16), (17, 19), (20, 20)]),
    ],
)
def test_the_statements_that_a_call_runs_are_marked(
    loaded: tuple[Marks, ModuleType], argument: int, expected: object, ran: list[tuple[int, int]]
) -> None:
    marks, module = loaded
    list(marks.taken())
    assert module.f(argument) == expected
    assert sorted(_lines(marks)) == ran
    assert _lines(marks) == []


def test_what_runs_in_a_fork_is_marked_too(loaded: tuple[Marks, ModuleType]) -> None:
    marks, module = loaded
    list(marks.taken())
    child = os.fork()
    if child == 0:
        module.f(2)
        os._exit(0)
    os.waitpid(child, 0)
    assert sorted(_lines(marks)) == [(8, 16), (9, 10)]


def test_a_process_with_marks_of_its_own_shows_them_to_no_other(loaded: tuple[Marks, ModuleType]) -> None:
    marks, module = loaded
    list(marks.taken())
    child = os.fork()
    if child == 0:
        marks.own()
        module.f(2)
        os._exit(int(sorted(_lines(marks)) != [(8, 16), (9, 10)]))
    assert os.waitpid(child, 0)[1] == 0
    assert _lines(marks) == []
