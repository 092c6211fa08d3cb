"""Statements and expressions of one kernel that are written alike."""

from __future__ import annotations

from itertools import product
from typing import Any

import tvm

from relax_lint.vm import comparing

TEXT = """
@T.prim_func(private=True, s_tir=True)
def f(x: T.Buffer((4,), "int32"), z: T.Buffer((4,), "int32"), y: T.Buffer((4,), "int32")):
    y[0] = x[0]
    y[0] = x[0]
    y[0] = z[0]
    z[0] = x[0]
    y[1] = x[0]
    y[0] = x[0] + x[1]
    y[0] = x[0] + z[1]
    y[0] = x[0] + x[1]
"""
ALIKE = ({0, 1}, {5, 7})


def _stores() -> list[Any]:
    body = tvm.script.from_source(TEXT).body
    while not hasattr(body, "seq"):
        body = body.block.body if hasattr(body, "block") else body.body
    return list(body.seq)


def test_other_buffers_are_not_other_names() -> None:
    stores = _stores()
    for one, other in product(range(8), repeat=2):
        expected = one == other or any({one, other} <= alike for alike in ALIKE)
        assert comparing.are_equal(stores[one], stores[other]) is expected, (one, other)
    # Of what they store the buffer that they store to is no part.
    assert comparing.are_equal(stores[0].value, stores[4].value)
    assert not comparing.are_equal(stores[0].value, stores[2].value)
