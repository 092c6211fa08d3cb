"""What a type of floats keeps of a number, beside what numpy makes of it."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from relax_lint.model.kernel_body.kept import kept_by


def _numbers() -> list[float]:
    chance = random.Random(5)
    drawn = [chance.choice((-1, 1)) * 2.0 ** chance.uniform(-30, 20) for _ in range(500)]
    # Halfway between two, too small and too large.
    ends = [1.0625, 2049.0, 2051.0, 65_504.0, 65_519.0, 65_520.0, 448.0, 464.0, 470.0, 2.0**-25, 2.0**-149]
    return [*drawn, *ends, 0.0, -0.0, 1e-60, 3.4e38, 3.5e38, -1e300, math.inf, -math.inf, math.nan]


def _kept_by_numpy(dtype: str) -> Any:
    if dtype.startswith(("bfloat", "float8")):
        return getattr(pytest.importorskip("ml_dtypes"), dtype)
    return np.dtype(dtype).type


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "bfloat16", "float8_e5m2", "float8_e4m3fn"]
)
def test_a_number_is_rounded_to_its_type(dtype: str) -> None:
    keep, made = kept_by(dtype), _kept_by_numpy(dtype)
    with np.errstate(all="ignore"):
        for number in _numbers():
            found, expected = keep(number), float(made(number))
            is_same = found == expected and math.copysign(1, found) == math.copysign(1, expected)
            assert is_same or (found != found and expected != expected), (number, found, expected)
