"""Kernels carried out on numbers: what a trial may say, and where it must say nothing."""

from __future__ import annotations

import pytest

import relax_lint
from relax_lint.replay.modules import load_module
from relax_lint.results.verdict import Verdict
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
        # What is asserted on the way makes no difference.
        ('for i in range(8):\n    assert i < 8, "never"\n    y[i] = x[7 - i]', True),
        ('for i in range(8):\n    assert i < 8, "never"\n    y[i] = x[i]', False),
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


OF_SCALARS = """\
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def scale(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), d: T.{dtype}):
        for i in range(4):
            y[3 - i] = x[i] {of} T.Cast("float32", d)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
        b = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
        _ = Module.scale(x, a, T.{dtype}(2))
        _1 = Module.scale(a, b, T.{dtype}(2))
        return b
"""


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int64", "uint8"])
@pytest.mark.parametrize("of", ["*", "+"])
def test_a_number_that_no_symbol_stands_for_ends_a_trial_quietly(dtype: str, of: str) -> None:
    """Of numbers with a fraction nothing is known in a trial: that is no error."""
    module = load_module(OF_SCALARS.format(dtype=dtype, of=of), "script")
    checks = relax_lint.check(module).checks
    overlapping = [check for check in checks if check.rule == "RLX206" and check.binding == "_1"]
    assert overlapping
    assert all(check.verdict is not Verdict.ALWAYS_FINE for check in overlapping)
