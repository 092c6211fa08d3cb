"""RLX312 for an index that changes with the steps, but not between the first two: the interpreter agrees."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

from tests.oracle.tir.machine import Machine, random_contents
from tests.rules.checking import checks, parse, verdicts
from tests.rules.one_kernel import called_kernel, kernel_text

RACES = [
    "y[T.shift_right(i, 31)] = x[i]",
    "y[i // 2] = x[i]",
    "y[i // 2] = x[n - 1 - i]",
    "y[i // 2] = y[i // 2] + x[i]",
    "y[i // 2] = T.Cast('float32', i)",
    "y[T.min(i // 2, n - 1)] = x[i]",
    "y[T.max(i, 1)] = x[i]",
    "y[(i + 2) // 4] = x[i] * T.float32(2)",
]
FINE = [
    "y[i // 2] = x[i // 2]",
    "y[i // 2] = T.Cast('float32', i // 2)",
    "y[T.shift_right(i, 31)] = T.Cast('float32', T.shift_right(i, 31))",
    "y[i // 1] = x[i]",
    "y[i * 2 // 2] = x[i]",
    "y[(i * 3 + 1) // 3] = x[i]",
]
UNSEEN = [
    # Of the first two steps each has an element of its own.
    "y[(i + 1) // 2] = x[i]",
    "y[i % 2] = x[i]",
    # From `n == 2` on they have one.
    "y[i // n] = x[i]",
    # Each leaves what another one has left.
    "y[i // 2] = T.max(y[i // 2], x[0])",
    # They store the same, what later steps store is not asked.
    "y[i // 4] = x[i // 2]",
    # A condition keeps one of them away, perhaps.
    "if i % 2 == 0:\n        y[i // 4] = x[i]",
]
LOOPS = [
    "T.parallel(n)",
    'T.thread_binding(n, thread="blockIdx.x")',
    'T.thread_binding(n, thread="threadIdx.x")',
]


def _said(body: str) -> list[tuple[str, str, str | None]]:
    return verdicts(checks(parse(called_kernel(body)), "RLX312"))


def _races(body: str, n: int) -> bool:
    """Whether the interpreter sees two steps that are in each other's way, and do not store the same."""
    prim_func: Any = tvm.script.from_source(kernel_text(body))
    machine = Machine(prim_func)
    shapes = machine.shapes({"n": n})
    assert shapes is not None
    report = machine.run({"n": n}, random_contents(prim_func, shapes, 1)).report
    return any(race.kind != "vectorized" and not race.same_value for race in report.races)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("store", RACES)
def test_the_first_two_steps_store_to_one_element(store: str, loop: str) -> None:
    body = f"for i in {loop}:\n    {store}"
    assert _said(body) == [("RLX312", "needs-runtime-check", "n <= 1")]
    assert _races(body, 2)
    assert not _races(body, 1)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("store", FINE)
def test_no_step_is_in_the_way_of_another_one(store: str, loop: str) -> None:
    body = f"for i in {loop}:\n    {store}"
    assert _said(body) == []
    assert not _races(body, 4)


@pytest.mark.parametrize("store", UNSEEN)
def test_in_doubt_nothing_is_said(store: str) -> None:
    body = f"for i in T.parallel(n):\n    {store}"
    assert _said(body) == []
    assert _races(body, 4)


def test_a_loop_around_takes_the_same_step_in_both() -> None:
    body = "for j in range(n):\n    for i in T.parallel(n):\n        y[(j * 4 + i // 2) % n] = x[i]"
    assert _said(body) == [("RLX312", "needs-runtime-check", "n <= 1")]
    assert _races(body, 4)


def test_the_words() -> None:
    (check,) = checks(parse(called_kernel("for i in T.parallel(64):\n    y[i // 2] = x[i]")), "RLX312")
    assert check.message == "several steps of the parallel loop `i` in `kernel` write the same `y[i // 2]`"
    assert check.verdict.value == "always-wrong"
