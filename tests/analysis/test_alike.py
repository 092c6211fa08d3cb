"""Which tensors may have as many elements of one dtype, so that one may be a view of the other."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from relax_lint.analysis.made_views import _may_be_alike
from relax_lint.model.types import DType, ShapeType, TensorType, ValueType

N = sympy.Symbol("n", integer=True)
F32 = DType("float32", 32)


def _tensor(*extents: Any, dtype: DType | None = F32) -> TensorType:
    return TensorType(tuple(map(sympy.sympify, extents)), dtype, len(extents))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (_tensor(4), _tensor(2, 2), True),
        (_tensor(4), _tensor(2, 3), False),
        (_tensor(N, 2), _tensor(2 * N), True),
        (_tensor(N), _tensor(N + 1), False),
        (_tensor(N), _tensor(4), True),
        (_tensor(), _tensor(1), True),
        (_tensor(4), _tensor(4, dtype=DType("int32", 32)), False),
        (_tensor(4), TensorType(None, F32, 1), True),
        (TensorType(None, F32, 1), TensorType(None, F32, -1), True),
        (_tensor(4), ShapeType((sympy.Integer(4),)), False),
    ],
)
def test_two_tensors_may_be_alike(one: ValueType, other: ValueType, expected: bool) -> None:
    assert _may_be_alike(one, other) is expected
    assert _may_be_alike(other, one) is expected
