"""Work that is counted, not timed: what is twice as large asks, visits and counts about twice as much."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.growth import work
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts import assertions
from relax_lint.facts.wrong_things import given_otherwise
from relax_lint.fixes.planning import Planner
from relax_lint.fixes.text import edits
from relax_lint.model.operations import Assert, Op
from relax_lint.symbolic import KEPT_BY_SYMPY
from relax_lint.symbolic.prover import ProverChain
from relax_lint.symbolic.questions import DomainIndex
from relax_lint.symbolic.search import Search
from relax_lint.totals.plans import Plans
from relax_lint.totals.walker import Walker

TWICE = 2.4
"""Twice, and a little that does not depend on the size."""


def _counted(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, direction: str, sizes: tuple[int, int]
) -> float:
    """How much more often a function is called for the larger size."""
    calls: Counter[int] = Counter()
    original: Callable[..., Any] = getattr(owner, name)
    for size in sizes:
        judge = work(direction, size)

        def counting(*arguments: Any, size: int = size, **keywords: Any) -> Any:
            calls[size] += 1
            return original(*arguments, **keywords)

        with monkeypatch.context() as patch:
            patch.setattr(owner, name, counting)
            judge()
    return calls[sizes[1]] / calls[sizes[0]]


@pytest.mark.parametrize("direction", ["symbols apart", "casts", "asserts"])
def test_a_question_is_posed_once_for_what_it_is_about(
    direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _counted(monkeypatch, DomainIndex, "pose", direction, (8, 16)) < TWICE


def test_facts_are_put_together_once_for_what_they_are_about(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _counted(monkeypatch, DomainIndex, "_made", "casts", (8, 16)) < TWICE


def test_tensors_that_lie_apart_are_not_looked_at_in_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _counted(monkeypatch, ProverChain, "decide", "tensors on a storage", (8, 16)) < TWICE


def test_what_is_proved_at_once_is_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _counted(monkeypatch, Search, "completed", "symbols joined", (8, 16)) < TWICE


def test_kernels_are_not_asked_what_they_write_where_nothing_branches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def asked(*_: Any) -> Any:
        pytest.fail("asked")

    monkeypatch.setattr(Plans, "written", asked)
    work("chain depth", 3)()


def test_only_a_written_assertion_is_looked_at_for_two_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[tuple[type[Op], int]] = Counter()

    def counting(op: Op, flow: FunctionFlow) -> Any:
        asked[type(op), op.place.index] += 1
        return given_otherwise(op, flow)

    judge = work("asserts", 4)
    monkeypatch.setattr(assertions, "given_otherwise", counting)
    judge()
    # Kernels and tensors on storages that are allocated are not asked at all.
    assert {kind for kind, _ in asked} == {Assert}
    assert {kind: number for (kind, _), number in asked.items() if number > 1} == {Assert: 2}


def test_sympy_keeps_what_many_symbols_need() -> None:
    program = (
        "import os, relax_lint.analysis, sympy.core.cache as kept\n"
        "print(kept.SYMPY_CACHE_SIZE, os.environ.get('SYMPY_CACHE_SIZE'))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "SYMPY_CACHE_SIZE"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(KEPT_BY_SYMPY), "None"]


def test_a_tuple_counts_once_however_many_hold_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _counted(monkeypatch, Walker, "_count", "tuple depth", (5, 10)) < TWICE


@pytest.mark.parametrize("direction", ["chain depth", "calls twice at each level"])
def test_a_function_is_followed_once_however_often_it_is_called(
    direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _counted(monkeypatch, Walker, "_block", direction, (4, 8)) < TWICE


def test_fixes_look_at_the_text_of_a_function_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Walking:
        """The module `ast`, of which one function is counted."""

        def __getattr__(self, name: str) -> Any:
            return getattr(ast, name)

        @staticmethod
        def walk(node: ast.AST) -> Any:
            return ast.walk(node)

    walking = Walking()
    monkeypatch.setattr(edits, "ast", walking)
    nodes = 0

    def visited(node: ast.AST) -> Any:
        nonlocal nodes
        for one in ast.walk(node):
            nodes += 1
            yield one

    monkeypatch.setattr(walking, "walk", visited, raising=False)
    found = []
    for size in (8, 16):
        nodes = 0
        work("findings", size)()
        found.append(nodes)
    assert found[1] / found[0] < TWICE


def test_plans_are_made_for_findings_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def planned(*_: Any) -> Any:
        pytest.fail("planned")

    monkeypatch.setattr(Planner, "plan", planned)
    work("storages", 3)()
    with pytest.raises(pytest.fail.Exception, match="planned"):
        work("findings", 3)()
