"""RLX311 unwritten-internal-read where its page does not reach: order, guards, regions, branches."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse, verdicts
from tests.rules.one_kernel import called_kernel


def said(body: str) -> list[tuple[str, str, str | None]]:
    text = called_kernel(f's = T.alloc_buffer((8,), "float32")\n{body.strip()}')
    return verdicts(checks(parse(text), "RLX311"))


@pytest.mark.parametrize(
    ("body", "safe"),
    [
        ("for i in range(n):\n    y[i] = s[0]\n    s[0] = x[i]", "n <= 0"),
        ("for i in range(n):\n    s[0] = s[0] + x[i]", "n <= 0"),
        ("if n > 4:\n    y[0] = s[1]", "n <= 4"),
        ("for i in range(n):\n    for j in range(3):\n        y[i] = y[i] + s[j]", "n <= 0"),
    ],
)
def test_what_comes_before_every_store_is_reported(body: str, safe: str) -> None:
    assert said(body) == [("RLX311", "needs-runtime-check", safe)]


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(n):\n    s[0] = x[i]\n    y[i] = s[0]",
        "for i in range(n):\n    if i > 0:\n        y[i] = s[0]\n    s[0] = x[i]",
        "for i in range(n):\n    y[i] = T.if_then_else(i > 0, s[0], x[i])\n    s[0] = x[i]",
        'for i in T.thread_binding(8, thread="threadIdx.x"):\n    y[i] = s[i]\n    s[i] = x[i]',
        'w = T.decl_buffer((8,), "float32", data=s.data)\nw[0] = x[0]\ny[0] = s[0]',
        "for i in range(n):\n    if x[i] > T.float32(0):\n        break\n    y[i] = s[0]",
    ],
)
def test_in_doubt_nothing_is_said(body: str) -> None:
    assert said(body) == []
