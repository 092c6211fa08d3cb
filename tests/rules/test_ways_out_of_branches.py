"""RLX306 for a store behind a branch that may leave the loop: who says "always" must be sure to come there."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse
from tests.rules.one_kernel import called_kernel

OUTSIDE = "    y[n] = T.float32(1)"
NESTED = "    if x[0] > T.float32(0):\n        if x[1] > T.float32(0):\n            {way}\n"


@pytest.mark.parametrize(
    ("before", "verdict"),
    [
        ("", "always-wrong"),
        ("    if x[0] > T.float32(0):\n        y[0] = T.float32(2)\n", "always-wrong"),
        ("    if x[0] > T.float32(0):\n        break\n", "needs-runtime-check"),
        (NESTED.format(way="break"), "needs-runtime-check"),
        (NESTED.format(way="continue"), "needs-runtime-check"),
        (
            "    if x[0] > T.float32(0):\n        y[0] = T.float32(2)\n    else:\n        break\n",
            "needs-runtime-check",
        ),
    ],
)
def test_what_comes_behind_a_way_out_need_not_be_reached(before: str, verdict: str) -> None:
    text = called_kernel(f"for i in range(4):\n{before}{OUTSIDE}")
    assert {check.verdict.value for check in checks(parse(text), "RLX306")} == {verdict}
