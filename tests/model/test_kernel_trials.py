"""Kernels carried out on numbers: what a trial may say, and where it must say nothing."""

from __future__ import annotations

import pytest

from tests.model.test_kernel_bodies import kernel

HALVED = """
for i in range(8):
    y[i] = x[i]
    if i == 3:
        {exit}
    y[i] = x[7 - i]
"""
COUNTED = """
k = T.alloc_buffer((1,), "int32")
k[0] = 0
while k[0] < 8:
    k[0] = k[0] + 1
    if k[0] == {at}:
        {exit}
    y[k[0] - 1] = x[{index}]
"""


def _differs(body: str) -> bool | None:
    found = kernel(body, x="8", y="8")
    assert found.differs is not None
    return found.differs({}, 1, 0, 0)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # Element by element, whatever way leads out of the loop.
        (HALVED.replace("x[7 - i]", "x[i]").format(exit="break"), False),
        (HALVED.replace("x[7 - i]", "x[i]").format(exit="continue"), False),
        # From the other end: the second half has been overwritten, unless it is left before.
        (HALVED.format(exit="continue"), True),
        (HALVED.format(exit="break"), False),
        (
            "for i in range(8):\n    for j in range(8):\n        if j == 1:\n            break\n        y[i] = x[7 - i]",
            True,
        ),
        (COUNTED.format(at=3, exit="continue", index="k[0] - 1"), False),
        (COUNTED.format(at=3, exit="break", index="k[0] - 1"), False),
        (COUNTED.format(at=3, exit="break", index="8 - k[0]"), False),
        (COUNTED.format(at=3, exit="continue", index="8 - k[0]"), True),
        # An argument decides which element is taken.
        ("for i in range(8):\n    if x[i] > T.float32(0):\n        y[i] = x[7 - i]", None),
        ("for i in range(8):\n    y[i] = T.max(x[i], x[7 - i])", None),
        # Numbers divided by numbers, and by whole numbers.
        ("for i in range(8):\n    y[i] = x[7 - i] / T.float32(2)", True),
        ("for i in range(8):\n    y[i] = T.float32(2) / x[7 - i]", True),
        ("for i in range(8):\n    y[i] = x[i] / x[i]", False),
        ("for i in range(8):\n    y[i] = T.exp(x[7 - i])", True),
        ("for i in range(8):\n    y[i] = T.exp(x[i])", False),
        ("for i in range(8):\n    y[i] = T.if_then_else(i < 4, x[i], x[7 - i])", False),
        ("for i in range(8):\n    y[i] = T.if_then_else(i < 8, x[i], x[7 - i])", False),
        ("for i in range(8):\n    y[i] = T.if_then_else(not i < 8, x[7 - i], x[i])", False),
        ("for i in T.serial(0, 8, step=4):\n    y[i] = x[7 - i]", False),
        ("for i in T.serial(0, 8, step=7):\n    y[i] = x[7 - i]", True),
        ('for i in range(8):\n    y[i] = T.Cast("float32", i)', False),
        ("for i in range(8):\n    y[7 - i // 1 % 8] = x[7 - i]", False),
    ],
)
def test_a_trial_of_one_memory(body: str, expected: bool | None) -> None:
    assert _differs(body) is expected
