"""RLX312 for values that are the same in the first steps of a loop: two steps are the fewest that can race."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse, verdicts
from tests.rules.one_kernel import called_kernel

RACE = [("RLX312", "needs-runtime-check", "n <= 1")]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("i", RACE),
        ("i // 1", RACE),
        ("i % 2", RACE),
        ("i * 3", RACE),
        # Of two steps both store 0, so that the region would not be `n <= 1`.
        ("i // 2", []),
        ("i // 3", []),
        ("i // n", []),
        ("i % 1", []),
    ],
)
@pytest.mark.parametrize("loop", ["T.parallel(n)", 'T.thread_binding(n, thread="blockIdx.x")'])
def test_the_value_changes_between_the_first_two_steps_or_nothing_is_said(
    value: str, said: list[tuple[str, str, str | None]], loop: str
) -> None:
    body = f"for i in {loop}:\n    y[0] = T.Cast('float32', {value})"
    assert verdicts(checks(parse(called_kernel(body)), "RLX312")) == said


@pytest.mark.parametrize(
    "body",
    [
        "for i in T.parallel(n):\n    while x[i] > T.float32(0):\n        y[0] = T.Cast('float32', i)",
        "while x[0] > T.float32(0):\n    for i in T.parallel(n):\n        y[0] = T.Cast('float32', i)",
    ],
)
def test_a_loop_that_contents_decide_may_have_no_step(body: str) -> None:
    assert verdicts(checks(parse(called_kernel(body)), "RLX312")) == []
