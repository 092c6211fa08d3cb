"""Between which numbers integer expressions of kernels lie: no value that they take is left out."""

from __future__ import annotations

from itertools import product

import pytest
import tvm

from relax_lint.model.kernel_body.intervals import Numbers

EXPRESSIONS = [
    "a + b",
    "a - b * 3",
    "a * b",
    "a // 3",
    "a % 4",
    "T.truncdiv(a, 3)",
    "T.truncmod(a, 3)",
    "T.min(a, b) - T.max(a, 2)",
    "T.Cast('int64', a < b)",
    "T.Cast('int64', a <= b)",
    "T.Cast('int64', a > b)",
    "T.Cast('int64', a >= b)",
    "T.Cast('int64', a == b)",
    "T.Cast('int64', a != b)",
    "T.Cast('int64', a < 3 and b < 3)",
    "T.Cast('int64', a < 3 or b < 3)",
    "T.Cast('int64', T.Not(a < b))",
    "T.if_then_else(a < b, a, b + 5)",
    "T.Select(a < b, a - 1, b)",
    "(a * 4 + b) // 3 % 5",
    "T.shift_left(a, b) + T.bitwise_and(a, 3)",
]
KERNEL = """
@T.prim_func(s_tir=True)
def kernel(y: T.Buffer((9,), "int64")):
    for a in T.serial(T.int64(9)):
        for b in T.serial(T.int64(9)):
            y[0] = {}
"""
ENDS = [(-3, -1), (-2, 2), (0, 0), (1, 4), (3, 7)]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_no_value_is_left_out(text: str) -> None:
    outer = tvm.script.from_source(KERNEL.format(text), check_well_formed=False).body
    numbers = Numbers()
    names = [numbers.variable(one.loop_var) for one in (outer, outer.body)]
    found = numbers.number(outer.body.body.value)
    assert found({}) is None
    exact = 0
    for ends in product(ENDS, repeat=2):
        reached = found(dict(zip(names, ends, strict=True)))
        points = [
            found(dict(zip(names, ((one, one) for one in point), strict=True)))
            for point in product(*(range(first, last + 1) for first, last in ends))
        ]
        for point in points:
            assert point is None or point[0] == point[1]
            exact += point is not None
            if reached is not None:
                assert point is not None
                assert reached[0] <= point[0] <= reached[1]
    assert exact
