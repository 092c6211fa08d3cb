"""Whether an output of a kernel depends on what an argument holds, which is seen by carrying it out with several
contents: numbers that are compared with a constant are tried near it.
"""

from __future__ import annotations

import pytest

from relax_lint.model.prim_funcs import read_kernel
from tests.model.test_kernel_parameters import written


@pytest.mark.parametrize(
    ("value", "counts"),
    [
        ("x[i]", True),
        ("T.Cast('float32', x[i] == T.float32(12345))", True),
        ("T.Cast('float32', x[i] != T.float32(0.5))", True),
        ("T.Cast('float32', T.Cast('int32', x[i]) == 77)", True),
        ("T.if_then_else(x[i] == T.float32(12345), T.float32(1), T.float32(0))", True),
        ("T.if_then_else(x[i] == T.float32(12345), T.float32(1), T.float32(1))", False),
        ("x[i] - x[i]", False),
        ("T.float32(12345)", False),
    ],
)
def test_an_argument_counts_where_the_output_depends_on_it(value: str, counts: bool) -> None:
    kernel = read_kernel("f", written("x 4; y 4", f"for i in range(4):\n    y[i] = {value}"))
    assert kernel.is_seen_in(0, frozenset({1}), frozenset()) is counts
