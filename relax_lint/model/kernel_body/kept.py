"""What the types of numbers keep of a number: integers their bits, floats as much as they have room for."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable
from typing import Any

from relax_lint.model.kernel_body.cells import Declined

Keep = Callable[[Any], Any]
_LARGEST = {"float8_e4m3fn": 448.0, "float8_e4m3fnuz": 240.0, "float8_e5m2fnuz": 57_344.0}
"""The largest number of formats in which not all exponents but the last are those of numbers."""


def kept_by(dtype: str) -> Keep:
    """What a type keeps of a number. Raises `Declined` for other types than numbers."""
    if dtype == "bool":
        return lambda number: int(bool(number))
    found = re.fullmatch(r"(u?)int(\d+)", dtype)
    if found is None:
        return _float(dtype)
    bits = int(found[2])
    mask, half = (1 << bits) - 1, 0 if found[1] else 1 << (bits - 1)
    return lambda number: ((_integer(number) + half) & mask) - half


def _integer(number: Any) -> int:
    if isinstance(number, float):
        return int(number) if math.isfinite(number) else 0
    return int(number)


def _float(dtype: str) -> Keep:
    if not re.fullmatch(r"b?float\d+\w*", dtype) or re.search(r"x\d+$", dtype):
        raise Declined
    if dtype == "float64":
        return float
    if dtype == "float32":
        single = ctypes.c_float
        return lambda number: single(number).value
    if dtype == "float16":
        return _narrow(5, 10)
    if dtype == "bfloat16":
        return _narrow(8, 7)
    found = re.fullmatch(r"float\d+_e(\d)m(\d)\w*", dtype)
    return _narrow(int(found[1]), int(found[2]), _LARGEST.get(dtype)) if found else float


def _narrow(exponent: int, mantissa: int, largest: float | None = None) -> Keep:
    """A float of so many bits: the nearest one, of two that are as near the even one."""
    bias = (1 << (exponent - 1)) - 1
    most = largest or (2.0 - 2.0**-mantissa) * 2.0**bias
    beyond = math.inf if largest is None else math.nan

    def keep(number: Any) -> float:
        given = float(number)
        found = abs(given)
        if found < math.inf:
            step = 2.0 ** (max(math.frexp(given)[1] - 1, 1 - bias) - mantissa)
            found = round(found / step) * step
        return math.copysign(beyond if found > most else found, given)

    return keep
