"""RLX312 for steps that store values to one element: they are in each other's way only where the values differ.
What each step stores is computed as in C, for every `n` of a range.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.rules.checking import checks, parse, verdicts
from tests.rules.one_kernel import called_kernel

WRONG, UNSURE = "always-wrong", "needs-runtime-check"
Values = Callable[[int, int], int]
CASES: dict[str, tuple[str, Values, str]] = {
    "its step": ("i", lambda i, n: i, WRONG),
    "steps in pairs": ("i // 2", lambda i, n: i // 2, WRONG),
    "a step in few bits": ("T.Cast('int8', i)", lambda i, n: i, WRONG),
    # The same for all steps from `n == 4` on, at one number, or never; that of a float of 24 bits is not known.
    "a part of a step": ("i // n", lambda i, n: i // n, UNSURE),
    "no more than a number": ("T.min(i, n - 1)", lambda i, n: min(i, n - 1), UNSURE),
    "what is left of a step": ("i % n", lambda i, n: i % n, UNSURE),
    "a step so often": ("i * (n - 3)", lambda i, n: i * (n - 3), UNSURE),
    "a choice": ("T.if_then_else(i < n, T.int64(1), T.int64(2))", lambda i, n: 1 if i < n else 2, UNSURE),
    "a step and a number": ("i * 2 + n", lambda i, n: i * 2 + n, UNSURE),
}


def _said(value: str, loop: str = "T.parallel(4)") -> list[tuple[str, str, str | None]]:
    return verdicts(
        checks(parse(called_kernel(f"for i in {loop}:\n    y[0] = T.Cast('float32', {value})")), "RLX312")
    )


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("loop", ["T.parallel(4)", 'T.thread_binding(4, thread="threadIdx.x")'])
def test_equal_values_are_no_race(name: str, loop: str) -> None:
    text, value, verdict = CASES[name]
    ((_, said, _),) = _said(text, loop)
    assert said == verdict
    differ = {len({np.float32(value(i, n)) for i in range(4)}) > 1 for n in (*range(1, 9), 1 << 30)}
    assert verdict == UNSURE or differ == {True}
    assert differ != {False}


def _of_whole_numbers(value: str) -> list[tuple[str, str, str | None]]:
    """What is written is the whole number itself."""
    text = called_kernel(f"for i in T.parallel(4):\n    y[0] = {value}")
    for buffer in ('T.match_buffer(b, (n,), "float32")', 'R.Tensor((n,), "float32")'):
        text = text.replace(buffer, buffer.replace("float32", "int64"))
    return verdicts(checks(parse(text), "RLX312"))


def test_a_step_so_often_is_told_with_the_numbers_at_which_it_is_fine() -> None:
    assert _of_whole_numbers("i * (n - 3)") == [("RLX312", UNSURE, "n == 3")]
    assert _of_whole_numbers("i * 2 + n") == [("RLX312", WRONG, None)]
    assert _of_whole_numbers("i // n") == [("RLX312", UNSURE, None)]


@pytest.mark.parametrize(
    ("store", "verdict"),
    [
        # From places that differ, from one place where `n` is 4, and in other loops.
        ("y[0] = x[i]", WRONG),
        ("y[0] = x[i // n]", UNSURE),
        ("y[0] = x[i // 2]", WRONG),
        ("for j in range(3):\n        y[0] = T.Cast('float32', i * 8 + j)", WRONG),
        ("for j in range(3):\n        y[0] = T.Cast('float32', i * j)", UNSURE),
        ("y[0] = T.Cast('float32', i) * T.float32(0.5)", WRONG),
        ("y[0] = T.Cast('float32', i // n) * T.float32(0.5)", UNSURE),
        # Where all steps choose the same, at `n == 0` or `n == 4`.
        ("y[0] = T.if_then_else(i + i < n, x[0], x[1])", UNSURE),
        ("y[0] = T.Select(i < n, x[i], x[0])", UNSURE),
        ("y[0] = T.Cast('float32', x[i] > T.float32(0))", UNSURE),
        ("y[0] = T.if_then_else(n < 4, x[0], x[1]) + x[i]", WRONG),
        # What is added to what is loaded is the same at `n == 3`, or never.
        ("y[0] = x[0] + T.Cast('float32', i * (n - 3))", UNSURE),
        ("y[0] = x[0] + T.Cast('float32', i)", WRONG),
        ("y[0] = x[0] * T.Cast('float32', i) - T.Cast('float32', i)", UNSURE),
        ("y[0] = T.exp(x[i] + x[0])", WRONG),
        # As much of a step as data says may be nothing, and so may what a bound leaves of it.
        ("y[0] = T.Cast('float32', i) * x[0]", UNSURE),
        ("y[0] = x[0] / T.Cast('float32', i + 1)", UNSURE),
        ("y[0] = T.max(T.Cast('float32', i), x[0])", UNSURE),
        ("y[0] = T.min(T.Cast('float32', i), T.float32(-1)) + x[0]", UNSURE),
        ("y[0] = T.exp(T.Cast('float32', i) * x[0])", UNSURE),
        ("y[0] = x[i // n] * T.Cast('float32', i)", UNSURE),
        ("y[0] = x[0] - T.Cast('float32', i) * T.float32(2)", WRONG),
        ("y[0] = x[i] * T.Cast('float32', i)", WRONG),
        # A whole number out of what a place holds, too.
        ("y[0] = T.Cast('float32', T.Cast('int64', x[i]) + T.int64(1))", WRONG),
        ("y[0] = T.Cast('float32', T.Cast('int64', x[i // n]) + T.int64(1))", UNSURE),
    ],
)
def test_what_is_loaded_or_computed_differs_or_may_not(store: str, verdict: str) -> None:
    found = checks(parse(called_kernel(f"for i in T.parallel(4):\n    {store}")), "RLX312")
    assert [check.verdict.value for check in found] == [verdict]
    if verdict == UNSURE:
        assert found[0].severity.value == "note"
        assert found[0].notes == ("undecided: the steps may store the same value",)


BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


@pytest.mark.parametrize("dtype", BITS)
@pytest.mark.parametrize(("sign", "beyond"), [(1, 0), (1, 1), (-1, 0), (-1, 1)])
def test_whole_numbers_that_a_float_does_not_hold_may_become_the_same(
    dtype: str, sign: int, beyond: int
) -> None:
    """Of so many bits it holds each number up to `2**bits`, of the next two one only."""
    last = (1 << BITS[dtype]) + beyond
    value = f"T.Cast('{dtype}', i + T.int64({last - 1 if sign > 0 else -last}))"
    text = called_kernel(f"for i in T.parallel(2):\n    y[0] = {value}")
    for buffer in ('T.match_buffer(b, (n,), "float32")', 'R.Tensor((n,), "float32")'):
        text = text.replace(buffer, buffer.replace("float32", dtype))
    ((_, said, _),) = verdicts(checks(parse(text), "RLX312"))
    assert said == (UNSURE if beyond else WRONG)
    if dtype != "bfloat16":
        two = {np.dtype(dtype).type(number) for number in (sign * last, sign * (last - 1))}
        assert len(two) == 2 - beyond


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("beyond", [0, 1])
def test_the_last_whole_number_that_a_float_holds_is_exact(dtype: str, beyond: int) -> None:
    """Sums of floats: of the next step what is stored is rounded to that number."""
    last = (1 << BITS[dtype]) + beyond
    value = f"T.Cast('{dtype}', i) + T.{dtype}({last - 1})"
    text = called_kernel(f"for i in T.parallel(2):\n    y[0] = {value}")
    for buffer in ('T.match_buffer(b, (n,), "float32")', 'R.Tensor((n,), "float32")'):
        text = text.replace(buffer, buffer.replace("float32", dtype))
    ((_, said, _),) = verdicts(checks(parse(text), "RLX312"))
    assert said == (UNSURE if beyond else WRONG)
    stored = {np.dtype(dtype).type(step) + np.dtype(dtype).type(last - 1) for step in range(2)}
    assert len(stored) == 2 - beyond
