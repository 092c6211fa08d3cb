"""RLX312 kernel-race where its page does not reach: which loops, which stores; the interpreter agrees."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

from tests.oracle.tir.machine import Machine, random_contents
from tests.rules.checking import checks, parse, verdicts
from tests.rules.one_kernel import called_kernel, kernel_text


def said(body: str) -> list[tuple[str, str, str | None]]:
    return verdicts(checks(parse(called_kernel(body)), "RLX312"))


def races(body: str, n: int) -> bool:
    """Whether the interpreter sees two steps that are in each other's way."""
    prim_func: Any = tvm.script.from_source(kernel_text(body))
    machine = Machine(prim_func)
    shapes = machine.shapes({"n": n})
    assert shapes is not None
    report = machine.run({"n": n}, random_contents(prim_func, shapes, 1)).report
    return any(race.kind != "vectorized" for race in report.races)


WRONG = {
    "y[0] = x[i]": "T.parallel(n)",
    "y[0] = y[0] + T.float32(1)": "T.parallel(n)",
    "y[n - 1] = T.Cast('float32', i)": "T.parallel(n)",
    "y[0] = x[n - 1 - i]": 'T.thread_binding(n, thread="blockIdx.x")',
    "y[0] = x[i] * T.float32(2)": 'T.thread_binding(n, thread="threadIdx.x")',
    "y[0] = T.max(y[0], x[i])": "T.parallel(n)",
    "y[0] = T.max(y[0], x[0]) + T.float32(1)": "T.parallel(n)",
    "y[0] = T.max(y[0], y[1])": "T.parallel(n)",
    "y[0] = T.Cast('float32', i % 4)": "T.parallel(n)",
}
FINE = {
    "y[i] = x[0]": "T.parallel(n)",
    "y[0] = T.float32(1)": "T.parallel(n)",
    "y[n - 1 - i] = x[i]": "T.parallel(n)",
    "y[0] = x[0]": 'T.thread_binding(n, thread="blockIdx.x")',
    # Each step stores the same, or leaves what another one has left.
    "y[0] = T.Cast('float32', i // n)": "T.parallel(n)",
    "y[0] = x[i // 16]": "T.parallel(16)",
    "y[0] = T.if_then_else(i < 16, T.float32(1), T.Cast('float32', i))": "T.parallel(16)",
    "y[0] = T.max(y[0], x[0])": "T.parallel(n)",
    "y[n - 1] = T.min(T.max(x[0], y[n - 1]), T.float32(6))": 'T.thread_binding(n, thread="blockIdx.x")',
    "y[0] = y[0]": "T.parallel(n)",
    "y[0] = T.tvm_warp_shuffle(T.uint32(1), x[i], 0, 32, 32)": 'T.thread_binding(32, thread="threadIdx.x")',
}


@pytest.mark.parametrize(("store", "loop"), WRONG.items())
def test_a_store_that_all_steps_make_is_a_race(store: str, loop: str) -> None:
    body = f"for i in {loop}:\n    {store}"
    assert said(body) == [("RLX312", "needs-runtime-check", "n <= 1")]
    assert races(body, 4)
    assert not races(body, 1)


@pytest.mark.parametrize(("store", "loop"), FINE.items())
def test_one_element_for_each_step_and_one_value_for_all_are_none(store: str, loop: str) -> None:
    assert said(f"for i in {loop}:\n    {store}") == []


@pytest.mark.parametrize(
    "body",
    [
        "for i in T.parallel(n):\n    if i == 0:\n        y[0] = x[i]",
        "for i in T.parallel(n):\n    if x[i] > T.float32(0):\n        y[0] = x[i]",
        "for i in T.parallel(n):\n    for j in range(T.Cast('int64', x[0])):\n        y[0] = x[i]",
        "for i in range(n):\n    y[0] = y[0] + x[i]",
        "for i in T.vectorized(4):\n    y[0] = x[i]",
        'for i in T.parallel(n):\n    s = T.alloc_buffer((1,), "float32")\n    s[0] = x[i]\n    y[i] = s[0]',
    ],
)
def test_in_doubt_nothing_is_said(body: str) -> None:
    assert said(body) == []


@pytest.mark.parametrize("second", ["y[1] = x[i]", "y[n - 1] = x[i]"])
@pytest.mark.parametrize("first", ["y[0] = x[i]", "y[0] = T.float32(1)"])
def test_each_race_of_a_kernel_is_told(first: str, second: str) -> None:
    loop = "for i in T.parallel(n):\n    "
    both = said(f"{loop}{first}\n{loop}{second}")
    assert both == said(loop + first) + said(loop + second)
    assert len(both) == 1 + ("float32" not in first)


@pytest.mark.parametrize(
    "store", [*WRONG, *FINE, "y[0] = T.Cast('float32', i * (n - 3))", "y[0] = x[i // 4]"]
)
def test_one_step_is_not_in_its_own_way(store: str) -> None:
    text = called_kernel(f"for i in T.parallel(n):\n    {store}")
    for tensor in ('R.Tensor(("n",), "float32")', 'R.Tensor((n,), "float32")'):
        text = text.replace(tensor, 'R.Tensor((1,), "float32")')
    found = verdicts(checks(parse(text), "RLX312"))
    assert [verdict for _, verdict, _ in found] == ["always-fine"] * len(found)


def test_threads_of_a_block_reduce_together() -> None:
    body = """
for i in T.thread_binding(n, thread="threadIdx.x"):
    with T.sblock("sum"):
        v = T.axis.reduce(n, i)
        with T.init():
            y[0] = T.float32(0)
        y[0] = y[0] + x[v]
"""
    assert said(body) == []
    assert not races(body, 4)


def test_the_loops_inside_must_have_steps_too() -> None:
    body = "for i in T.parallel(n):\n    for j in range(n - 2):\n        y[0] = x[i]"
    assert said(body) == [("RLX312", "needs-runtime-check", "n <= 2")]
