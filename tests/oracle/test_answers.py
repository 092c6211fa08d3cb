"""A child that does not answer in time is neither an agreement nor a disagreement."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
import tvm

from relax_lint.replay import Machine, machine
from tests.oracle import compare, fixes
from tests.oracle.answers import NOT_COMPARED
from tests.oracle.evaluator import Point
from tests.oracle.heap import compare as heap
from tests.oracle.heap.program import random_program
from tests.oracle.strategies import some
from tests.oracle.test_tir_guarded import BODIES, HEAD
from tests.oracle.tir import compiled_child, guarded
from tests.oracle.tir.writer import some as some_kernels

_SLEEPS = (sys.executable, "-c", "import time; time.sleep(60)")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A machine whose child never answers, and few calls to ask it for."""
    monkeypatch.setattr(machine, "_COMMAND", _SLEEPS)
    few = [Point(1, 1, 1, True), Point(3, 4, 1, False)]
    monkeypatch.setattr(compare, "points", lambda: few)
    monkeypatch.setattr(fixes, "points", lambda: few)
    monkeypatch.setattr(heap, "points", lambda: [heap.Point(2, 4, 8, True), heap.Point(4, 4, 8, False)])
    with Machine(time_limit=0.01) as slow:
        yield slow


def _is_told_apart(seen: dict[str, int], word: str) -> bool:
    """Whether calls were left out, and none of them counted as one that was run."""
    return seen[NOT_COMPARED] > 0 and not seen.get(word)


@pytest.mark.vm
def test_the_evaluator_is_not_compared(slow: Machine) -> None:
    assert _is_told_apart(compare.compare_machine(some(3, 1, tidy=False), slow, "naive"), "ok")


@pytest.mark.vm
def test_fixes_are_not_compared(slow: Machine) -> None:
    (program,) = some(1, 1, tidy=True)
    assert _is_told_apart(fixes.compare_fixes(program, "assert", slow), fixes.SAME)


@pytest.mark.vm
def test_shape_heaps_are_not_compared(slow: Machine) -> None:
    found = [heap.compare(random_program(seed), slow) for seed in range(3)]
    assert any(seen[NOT_COMPARED] for seen in found)
    assert not any(seen["calls on the machine"] for seen in found)


@pytest.mark.vm
def test_guarded_kernels_are_not_compared(slow: Machine) -> None:
    body = BODIES["a longer loop"].replace("\n", "\n    ")
    seen = guarded.compare_function(tvm.script.from_source(f"{HEAD}    {body}\n"), slow)
    assert set(seen) == {"kernels", NOT_COMPARED}


def test_compiled_kernels_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_child, "_PATIENCE", 0.01)
    (kernel,) = some_kernels(1, 1)
    assert compiled_child.compare_apart(kernel) == {NOT_COMPARED: 1}
