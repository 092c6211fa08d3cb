"""What is read from TVM's objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relax_lint.vm.constants import integer_range


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([3, -4, 2], "int64"), (-4, 3)),
        (np.array(5, "uint8"), (5, 5)),
        (np.array([1.0, 2.0], "float32"), None),
        (np.array([True, False]), (0, 1)),
        (np.array(False), (0, 0)),
        (np.zeros((0,), "int32"), None),
    ],
    ids=str,
)
def test_the_range_of_a_constant(array: Any, expected: tuple[int, int] | None) -> None:
    assert integer_range(relax.const(array, str(array.dtype))) == expected
