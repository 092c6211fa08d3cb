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
        ("for i in range(n):\n    y[0, i] = x[i]", "1, n", sympy.true),
        ("for i in range(n):\n    y[0, i] = x[i]", "2, n", (N <= 0)),
        ("for i in range(n):\n    for k in range(3):\n        y[i] = x[i] + x[k]", "n", sympy.true),
        ("for i in range(n):\n    for k in range(0):\n        y[i] = x[i] + x[k]", "n", sympy.false),
        ("for i in range(4):\n    for k in range(n):\n        y[i] = x[k]", "4", (N >= 1)),
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


TILED = """
for i in range((n * 8 + 127) // 128):
    for j in range(128):
        if i * 128 + j < n * 8:
            y[(i * 128 + j) // 8, (i * 128 + j) % 8] = x[i * 128 + j]
"""
PREDICATED = """
for i in T.thread_binding((n + 31) // 32, thread="blockIdx.x"):
    for j in T.thread_binding(32, thread="threadIdx.x"):
        with T.sblock("b"):
            v = T.axis.spatial(n, i * 32 + j)
            T.where(i * 32 + j < n)
            y[v] = x[v]
"""
THREADS = """
for t in T.thread_binding(8, thread="threadIdx.x"):
    for u in T.thread_binding(8, thread="threadIdx.x"):
        with T.sblock("b"):
            v = T.axis.spatial(64, t * 8 + u)
            y[v] = x[v]
"""
HALVES = (
    "for i in range((n + 1) // 2):\n    y[i * 2] = x[i]\nfor i in range(n // 2):\n    y[i * 2 + 1] = x[i]"
)
SCAN = """
for i in range(n):
    y[i * 8 // 8, i * 8 % 8] = x[i * 8]
    for j in range(7):
        y[(i * 8 + j + 1) // 8, (i * 8 + j + 1) % 8] = y[(i * 8 + j) // 8, (i * 8 + j) % 8] + x[i * 8 + j + 1]
"""
GUARDED_SUM = """
for t in T.thread_binding(32, thread="threadIdx.x"):
    with T.sblock("b"):
        v = T.axis.spatial(1, 0)
        T.where(t < 1)
        y[v] = T.float32(0)
    for i in range(n):
        with T.sblock("c"):
            v = T.axis.spatial(1, 0)
            w = T.axis.reduce(n, i)
            T.where(t < 1)
            y[v] = y[v] + x[w]
"""


@pytest.mark.parametrize(
    ("body", "x", "y", "blocks", "whole"),
    [
        (TILED, "n * 8", "n, 8", False, True),
        (TILED.replace("j < n * 8", "j < n * 8 - 1"), "n * 8", "n, 8", False, False),
        (TILED.replace("+ 127", "+ 119"), "n * 8", "n, 8", False, False),
        # Column by column instead of row by row.
        (
            TILED.replace(
                "y[(i * 128 + j) // 8, (i * 128 + j) % 8]", "y[(i * 128 + j) % 8, (i * 128 + j) // 8]"
            ),
            "n * 8",
            "8, n",
            False,
            True,
        ),
        (PREDICATED, "n", "n", True, True),
        (PREDICATED.replace("j < n)", "j < n - 1)"), "n", "n", True, False),
        (PREDICATED.replace("range(32)", "range(31)").replace("(32, ", "(31, "), "n", "n", True, False),
        (THREADS, "64", "64", True, False),
        (
            THREADS.replace('thread="threadIdx.x"):\n    for', 'thread="threadIdx.y"):\n    for'),
            "64",
            "64",
            True,
            True,
        ),
        (HALVES, "n", "n", False, True),
        (HALVES.replace("i * 2 + 1]", "i * 2 + 2]"), "n", "n", False, False),
        (HALVES.replace("(n + 1) // 2", "n // 2"), "n", "n", False, False),
        (SCAN, "n * 8", "n, 8", False, True),
        (SCAN.replace("range(7)", "range(6)"), "n * 8", "n, 8", False, False),
        (GUARDED_SUM, "n", "1", True, True),
        ("if n > 3:\n    for i in range(n):\n        y[i] = x[i]", "n", "n", False, False),
    ],
)
def test_coverage_of_what_schedules_write(body: str, x: str, y: str, blocks: bool, whole: bool) -> None:
    assert (kernel(body, x=x, y=y, blocks=blocks).whole_writes[1] == sympy.true) == whole


def test_a_guarded_sum_does_not_read_what_its_guarded_start_wrote() -> None:
    assert kernel(GUARDED_SUM, y="1", blocks=True).reads == {0}
    other = GUARDED_SUM.replace("T.where(t < 1)", "T.where(t > 0)", 1)
    assert kernel(other, y="1", blocks=True).reads == {0, 1}


@pytest.mark.parametrize(("strides", "elementwise"), [("[8, 1]", True), ("[1, 4]", False), ("[s, 1]", False)])
def test_elements_lie_where_strides_put_them(strides: str, elementwise: bool) -> None:
    text = f"""\
@T.prim_func(private=True)
def f(a: T.handle, b: T.handle):
    s = T.int64()
    x = T.match_buffer(a, (4, 8), "float32")
    y = T.match_buffer(b, (4, 8), "float32", strides={strides})
    for i in range(4):
        for j in range(8):
            y[i, j] = x[i, j] * T.float32(2)
"""
    found = read_kernel("f", tvm.script.from_source(text))
    assert found.elementwise == ({(0, 1)} if elementwise else set())
    assert found.whole_writes[1] == sympy.true


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


@pytest.mark.parametrize(
    ("body", "whole"),
    [
        ('i = T.launch_thread("threadIdx.x", n)\ny[i] = x[i]', True),
        ('i = T.launch_thread("threadIdx.x", n - 1)\ny[i] = x[i]', False),
        ("for i in range(n):\n    j: T.let = n - 1 - i\n    y[j] = x[j]", True),
        ("for i in range(n):\n    j: T.let = i // 2\n    y[j] = x[j]", False),
        ("for k in range(3):\n    if k == 1:\n        break\nfor i in range(n):\n    y[i] = x[i]", True),
        ("for i in range(n):\n    while x[0] > T.float32(0):\n        y[i] = x[i]", False),
        ("for i in range(n):\n    for k in range(0):\n        y[i] = x[i]", False),
        ("for i in range(n):\n    for k in range(2):\n        y[i] = x[i]", True),
        ("for i in range(1, n + 1):\n    y[i] = x[i - 1]", False),
        ("for i in range(-1, n - 1):\n    y[i] = x[i + 1]", False),
        ("for i in range(1, n + 1):\n    y[i - 1] = x[i - 1]", True),
    ],
)
def test_coverage_of_other_loops(body: str, whole: bool) -> None:
    assert (kernel(body).whole_writes[1] == sympy.true) is whole


def test_one_load_of_several_that_comes_first_is_enough() -> None:
    both = "y[0] = x[0]\ny[0] = y[0] + x[0]\ny[1] = {loaded} + x[1]"
    assert kernel(both.format(loaded="y[0]")).reads == {0}
    assert kernel(both.format(loaded="y[1]")).reads == {0, 1}


@pytest.mark.parametrize(
    ("loop", "reads"),
    [
        ("for i in range(n - 1):\n    ", {0}),
        ("for i in T.parallel(n - 1):\n    ", {0, 1}),
        ("for i in T.vectorized(n - 1):\n    ", {0, 1}),
        ('for i in T.thread_binding(n - 1, thread="threadIdx.x"):\n    ', {0, 1}),
        ('i = T.launch_thread("threadIdx.x", n - 1)\n', {0, 1}),
        ("for i in range(1, n - 1):\n    ", {0, 1}),
    ],
)
def test_what_the_step_before_has_stored_is_there_where_one_step_comes_after_the_other(
    loop: str, reads: set[int]
) -> None:
    assert kernel(f"y[0] = x[0]\n{loop}y[i + 1] = y[i] + x[i]").reads == reads


def test_a_row_that_is_filled_in_the_same_step_is_not_read() -> None:
    body = """
    for i in range(n):
        for k in range({filled}):
            y[i, {stored}] = T.float32(0)
        for j in range(n):
            y[i, j] = y[i, j] + x[i]
    """
    assert kernel(body.format(filled="n", stored="k"), y="n, n").reads == {0}
    assert kernel(body.format(filled="n - 1", stored="k"), y="n, n").reads == {0, 1}
    assert kernel(body.format(filled="n", stored="0"), y="n, n").reads == {0, 1}


def test_a_diagonal_is_not_all_of_a_square() -> None:
    fill = "for k in range(n):\n    y[k, k] = T.float32(0)\n"
    add = "for i in range(n):\n    for j in range(n):\n        y[i, j] = y[i, j] + x[i]"
    assert kernel(fill + add, y="n, n").reads == {0, 1}
    assert kernel(
        fill.replace("for k in range(n)", "for k, l in T.grid(n, n)").replace("k, k", "k, l") + add, y="n, n"
    ).reads == {0}


@pytest.mark.parametrize(
    "body",
    [
        'T.evaluate(T.call_extern("int32", "g", y[0]))',
        "for i in range(n):\n    if y[0] > T.float32(0):\n        T.evaluate(0)",
        "while y[0] > T.float32(0):\n    T.evaluate(0)",
        'T.evaluate(T.call_extern("int32", "g", y.data))',
        "v: T.let = y[0]\nfor i in range(n):\n    y[i] = v",
    ],
)
def test_what_is_looked_at_is_read(body: str) -> None:
    assert 1 in kernel(body).reads


@pytest.mark.parametrize(
    "body", ["T.evaluate(y[0])", "for i in range(n):\n    T.evaluate(T.exp(y[i]) + x[i])"]
)
def test_what_nothing_takes_is_not_read(body: str) -> None:
    assert 1 not in kernel(body).reads


def test_blocks_have_ways_out_too() -> None:
    body = """
    for i in range(n):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            if v == 3:
                {exit}
            y[v] = x[v]
    """
    assert kernel(body.format(exit="T.evaluate(0)"), blocks=True).whole_writes[1] == sympy.true
    assert kernel(body.format(exit="continue"), blocks=True).whole_writes[1] == sympy.false
    assert kernel(body.format(exit="break"), blocks=True).whole_writes[1] == sympy.false


def test_what_follows_a_loop_without_a_count_is_in_the_loop_around_it() -> None:
    body = """
    s = T.alloc_buffer((1,), "float32")
    for i in range(n):
        s[0] = T.float32(0)
        while s[0] < T.float32(2):
            s[0] = s[0] + T.float32(1)
        y[i] = x[i]
    """
    assert kernel(body).whole_writes[1] == sympy.true
    assert (
        kernel(body.replace("        y[i] = x[i]", "            y[i] = x[i]")).whole_writes[1] == sympy.false
    )
