"""Loops, ways out, coverage and order in the bodies of kernels."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
import sympy
import tvm

from relax_lint.model.kernels import Kernel
from relax_lint.model.prim_funcs import read_kernel


def kernel(body: str, *, x: str = "n", y: str = "n", blocks: bool = False, attributes: str = "") -> Kernel:
    """The kernel of two buffers with this body."""
    head = f"""\
@T.prim_func(private=True{", s_tir=True" if blocks else ""})
def f(a: T.handle, b: T.handle):
    T.func_attr({{{attributes}}})
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(a, ({x},), "float32")
    y = T.match_buffer(b, ({y},), "float32")
"""
    return read_kernel("f", tvm.script.from_source(head + indent(dedent(body).strip("\n"), "    ")))


PREVIOUS = """
s = T.alloc_buffer((1,), "float32")
s[0] = T.float32(0)
for i in range(n):
    y[i] = x[i] - s[0]
    s[0] = x[i]
"""
REPEATED = """
for k in range(3):
    for i in range(n):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            y[v] = x[v] * T.float32(2)
"""
SPLIT = """
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n * 4, i * 4 + j)
            y[v] = x[v] * T.float32(2)
"""
FUSED = """
for i in range(n * 4):
    with T.sblock("b"):
        v = T.axis.spatial(n, i // 4)
        w = T.axis.spatial(4, i % 4)
        y[v, w] = x[v, w] * T.float32(2)
"""


@pytest.mark.parametrize(
    ("body", "shapes", "blocks", "elementwise"),
    [
        (PREVIOUS, ("n", "n"), False, False),
        # The element is taken before it is overwritten.
        (
            PREVIOUS.replace("y[i] = x[i] - s[0]\n    s[0] = x[i]", "s[0] = x[i] - s[0]\n    y[i] = s[0]"),
            ("n", "n"),
            False,
            True,
        ),
        (REPEATED, ("n", "n"), True, False),
        (SPLIT, ("n * 4", "n * 4"), True, True),
        (FUSED, ("n, 4", "n, 4"), True, True),
        ("for i in range(n):\n    y[n - 1 - i] = -x[n - 1 - i]", ("n", "n"), False, True),
        (
            "for i in range(n):\n    for j in range(m):\n        y[i * m + j] = -x[i, j]",
            ("n, m", "n * m"),
            False,
            True,
        ),
        (
            "for i in range(n):\n    for j in range(n):\n        y[i * m + j] = -x[i, j]",
            ("n, m", "n * m"),
            False,
            False,
        ),
        (
            "for i in range(n):\n    y[i] = x[i]\nfor i in range(n):\n    y[i] = y[i] + x[i]",
            ("n", "n"),
            False,
            True,
        ),
        (
            "for i in range(n):\n    y[i] = -x[i]\nfor i in range(n):\n    y[i] = y[i] + x[i]",
            ("n", "n"),
            False,
            False,
        ),
        ("for i in T.serial(0, n, step=2):\n    y[i] = -x[i]", ("n", "n"), False, True),
    ],
)
def test_order(body: str, shapes: tuple[str, str], blocks: bool, elementwise: bool) -> None:
    found = kernel(body, x=shapes[0], y=shapes[1], blocks=blocks)
    assert found.elementwise == ({(0, 1)} if elementwise else set())


N, M = sympy.Symbol("n", integer=True), sympy.Symbol("m", integer=True)


@pytest.mark.parametrize(
    ("body", "shape", "whole"),
    [
        ("for i in range(n):\n    y[i] = x[i]", "n", sympy.true),
        ("for i in range(n):\n    y[n - 1 - i] = x[i]", "n", sympy.true),
        ("for i in T.serial(0, n, step=2):\n    y[i] = x[i]", "n", sympy.false),
        ("for i in range(n):\n    if i < 3:\n        y[i] = x[i]", "n", sympy.false),
        (
            "for i in range(n):\n    if i < 3:\n        y[i] = x[i]\n    else:\n        y[i] = -x[i]",
            "n",
            sympy.true,
        ),
        ("for i in range(n):\n    if i == 3:\n        continue\n    y[i] = x[i]", "n", sympy.false),
        ("for i in range(n):\n    y[i] = x[i]\n    if i == 3:\n        break", "n", sympy.false),
        ("y[0] = x[0]\nfor i in range(n - 1):\n    y[i + 1] = y[i] + x[i + 1]", "n", sympy.true),
        ("for i in range(n):\n    y[i * 2] = x[i]", "n * 2", sympy.false),
        ("for i in range(n):\n    for j in range(4):\n        y[i * 4 + j] = x[i]", "n * 4", sympy.true),
        ("y[0] = x[0]", "n", (N <= 1)),
        ("for i in range(n):\n    y[i] = x[i]", "m", (N >= M)),
    ],
)
def test_coverage(body: str, shape: str, whole: object) -> None:
    found = kernel(body, y=shape).whole_writes[1]
    if whole in (sympy.true, sympy.false):
        assert found == whole
    else:
        for n in range(4):
            for m in range(1, 4):
                values = {N: n, M: m}
                assert bool(found.subs(values)) == bool(whole.subs(values))  # type: ignore[attr-defined]


def test_an_output_is_read_unless_what_is_loaded_was_stored() -> None:
    scan = "y[0] = x[0]\nfor i in range(n - 1):\n    y[i + 1] = y[i] + x[i + 1]"
    assert kernel(scan).reads == {0}
    assert kernel(scan.replace("y[0] = x[0]", "y[1] = x[0]")).reads == {0, 1}
    assert kernel("for i in range(n):\n    y[i] = y[n - 1 - i] + x[i]").reads == {0, 1}
    assert kernel("y[0] = x[0]\nfor i in range(n):\n    y[i] = y[i] + x[i]").reads == {0, 1}


def test_a_trial_says_what_the_virtual_machine_shows() -> None:
    # Reversed, shifted up and shifted down, with the second tensor on the first one.
    reverse = kernel("for i in range(8):\n    y[i] = x[7 - i]", x="8", y="8")
    assert reverse.differs is not None
    assert reverse.differs({}, 1, 0, 0) is True
    down = kernel("for i in range(7):\n    y[i] = x[i + 1]", x="8", y="8")
    assert down.differs is not None
    assert down.differs({}, 1, 0, 0) is False
    promised = kernel(
        "for i in range(8):\n    y[i] = x[7 - i]", x="8", y="8", attributes='"tirx.noalias": True'
    )
    assert promised.differs is not None
    assert promised.differs({}, 1, 0, 0) is None
