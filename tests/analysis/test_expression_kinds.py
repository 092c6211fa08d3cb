"""The effect of a kernel whose loads stand in every kind of expression with one operand."""

from __future__ import annotations

import pytest

from tests.analysis.test_effects import of_kernel, reads_and_writes

BODIES = {
    "Ramp": "y[T.Ramp(0, 1, 4)] = x[T.Ramp(0, 1, 4)]",
    "Broadcast": "y[T.Ramp(0, 1, 4)] = T.Broadcast(x[0], 4)",
    "Cast": "y[0] = T.Cast('float32', T.Cast('int32', x[0]))",
    "Not": "y[0] = T.Select(T.Not(x[0] > T.float32(0)), T.float32(2), T.float32(1))",
    "BitwiseNot": "y[0] = T.Cast('float32', ~T.Cast('int32', x[0]))",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_is_loaded_is_read_and_nothing_else_is_lost(body: str) -> None:
    effect = of_kernel(body)
    assert effect.known
    assert reads_and_writes(effect) == ({0}, {1})
