"""RLX312 for steps that add something to one element, or multiply it: they are in each other's way unless each of
them leaves it as it was. One that adds 0 writes back what it read, and so undoes what another one added meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rules.checking import checks, parse, verdicts
from tests.rules.one_kernel import called_kernel

WRONG, UNSURE, FINE = "always-wrong", "needs-runtime-check", "always-fine"
CASES: dict[str, tuple[str, Callable[[int, int], int], int, str]] = {
    # What is stored, what it adds or multiplies with, a number with which that does no harm, and the verdict.
    "a number": ("y[0] + T.int64(1)", lambda i, n: 1, 0, WRONG),
    "its step": ("y[0] + i", lambda i, n: i, 0, WRONG),
    "one more than its step": ("y[0] + (i + 1)", lambda i, n: i + 1, 0, WRONG),
    "less its step": ("y[0] - i", lambda i, n: i, 0, WRONG),
    "nothing less itself": ("i - y[0]", lambda i, n: 1, 0, WRONG),
    "a part of a step": ("y[0] + i // n", lambda i, n: i // n, 0, UNSURE),
    "a part of a step first": ("i // n + y[0]", lambda i, n: i // n, 0, UNSURE),
    "less a part of a step": ("y[0] - i // n", lambda i, n: i // n, 0, UNSURE),
    "a part of a size": ("y[0] + n // 4", lambda i, n: n // 4, 0, UNSURE),
    "what is never nothing": ("y[0] + (i // n + 1)", lambda i, n: i // n + 1, 0, WRONG),
    "so often": ("y[0] * (i // n + 1)", lambda i, n: i // n + 1, 1, UNSURE),
    "not at all": ("y[0] * (i // n)", lambda i, n: i // n, 0, UNSURE),
    "once or not at all": ("y[0] * (n // 4)", lambda i, n: n // 4, 1, UNSURE),
    "twice": ("y[0] * T.int64(2)", lambda i, n: 2, 1, WRONG),
    "on a condition": ("T.if_then_else(i < n, y[0], y[0] + T.int64(1))", lambda i, n: int(i >= n), 0, UNSURE),
    "as many as are read": ("y[0] + x[i]", lambda i, n: 1, 0, WRONG),
}


def _text(store: str, loop: str = "T.parallel(4)") -> str:
    text = called_kernel(f"for i in {loop}:\n    y[0] = {store}")
    for buffer in ('T.match_buffer(b, (n,), "float32")', 'R.Tensor((n,), "float32")'):
        text = text.replace(buffer, buffer.replace("float32", "int64"))
    return text.replace("x[i]", "T.Cast('int64', x[i])")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("loop", ["T.parallel(4)", 'T.thread_binding(4, thread="threadIdx.x")'])
def test_what_adds_nothing_is_no_race(name: str, loop: str) -> None:
    store, added, neutral, verdict = CASES[name]
    ((_, said, _),) = verdicts(checks(parse(_text(store, loop)), "RLX312"))
    assert said == verdict
    harmless = {all(added(i, n) == neutral for i in range(4)) for n in (*range(1, 9), 1 << 20)}
    assert verdict == FINE or harmless != {True}
    assert verdict == UNSURE or harmless == {verdict == FINE}


def test_what_is_added_once_is_said_with_the_sizes_at_which_it_is_nothing() -> None:
    assert verdicts(checks(parse(_text("y[0] + n // 4")), "RLX312")) == [("RLX312", UNSURE, "n <= 3")]
