"""Scalars and vectors as compiled kernels compute them: integers wrap, floats are rounded."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np


class Undefined(Exception):
    """A step without a result in any compiled kernel: a division by zero, a shift by too much."""


_DTYPE = re.compile(r"(bool|int|uint|float|bfloat|handle)(\d*)(?:x(\d+))?")
_FLOATS: dict[str, Any] = {"float16": np.float16, "float32": np.float32, "float64": np.float64}


@lru_cache(maxsize=64)
def bits_of(dtype: str) -> int:
    """Bits of one lane."""
    found = _DTYPE.match(dtype)
    assert found is not None
    return int(found[2] or (8 if found[1] == "bool" else 64))


@lru_cache(maxsize=64)
def lanes_of(dtype: str) -> int:
    """How many numbers a value has."""
    found = _DTYPE.match(dtype)
    assert found is not None
    return int(found[3] or 1)


@lru_cache(maxsize=64)
def rounding(dtype: str) -> Callable[[Any], Any]:
    """What becomes of an exact number, or of each lane, in a dtype."""
    found = _DTYPE.match(dtype)
    assert found is not None
    if found[1] == "bool":
        one: Callable[[Any], Any] = _truth
    elif found[1] in ("int", "uint"):
        one = _wrapping(int(found[2]), found[1] == "int")
    elif dtype.partition("x")[0] in _FLOATS:
        one = _rounded(_FLOATS[dtype.partition("x")[0]])
    else:
        one = _same
    return lambda value: tuple(map(one, value)) if isinstance(value, tuple) else one(value)


class Overflow(Enum):
    """What a signed integer of 32 or 64 bits is that is too large. TVM simplifies as if there were none, and
    LLVM is told so: nothing is defined there, and any number may come of it.
    """

    UNDEFINED = "undefined"
    WRAPS = "wraps"
    LEAST = "least"
    GREATEST = "greatest"


def computed(dtype: str) -> Callable[[Any, Overflow], Any]:
    """What becomes of the result of an operation. Raises `Undefined` where nothing does."""
    round_ = rounding(dtype)
    if not dtype.startswith(("int32", "int64")):
        return lambda value, overflow: round_(value)
    half = 1 << (bits_of(dtype) - 1)
    ends = {Overflow.LEAST: -half, Overflow.GREATEST: half - 1}

    def run(value: Any, overflow: Overflow) -> Any:
        if (found := round_(value)) == value or overflow is Overflow.WRAPS:
            return found
        if overflow is Overflow.UNDEFINED:
            raise Undefined("an integer that is too large")
        end = ends[overflow]
        if isinstance(value, tuple):
            return tuple(a if a == b else end for a, b in zip(value, found, strict=True))
        return end

    return run


def _truth(value: Any) -> int:
    return int(bool(value))


def _same(value: Any) -> Any:
    return value


def _wrapping(bits: int, signed: bool) -> Callable[[Any], int]:
    half, full = 1 << (bits - 1), 1 << bits

    def wrap(value: Any) -> int:
        if isinstance(value, float):
            value = 0 if math.isnan(value) or math.isinf(value) else math.trunc(value)
        if signed:
            return int((value + half) % full - half)
        return int(value % full)

    return wrap


def _rounded(kind: Any) -> Callable[[Any], float]:
    def to_kind(value: Any) -> float:
        with np.errstate(over="ignore"):
            return float(kind(value))

    return to_kind


def lanewise(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function on numbers, on vectors lane by lane."""

    def run(*operands: Any) -> Any:
        widths = [len(operand) for operand in operands if isinstance(operand, tuple)]
        if not widths:
            return function(*operands)
        lanes = [operand if isinstance(operand, tuple) else (operand,) * widths[0] for operand in operands]
        return tuple(map(function, *lanes))

    return run


def _divided(a: Any, b: Any) -> Any:
    if isinstance(a, float) or isinstance(b, float):
        if b == 0:
            return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
        return a / b
    if b == 0:
        raise Undefined("a division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: Any, b: Any) -> Any:
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(a, b) if b else math.nan
    return a - _divided(a, b) * b


def _floor_divided(a: Any, b: Any) -> Any:
    if b == 0:
        raise Undefined("a division by zero")
    return a // b


def _floor_remainder(a: Any, b: Any) -> Any:
    if b == 0:
        raise Undefined("a division by zero")
    return a % b


def _shifted(left: bool) -> Callable[[int, int], int]:
    def shift(a: int, b: int) -> int:
        if not 0 <= b < 64:
            raise Undefined("a shift by too much")
        return a << b if left else a >> b

    return shift


BINARY: dict[str, Callable[..., Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": _divided,
    "Mod": _remainder,
    "FloorDiv": _floor_divided,
    "FloorMod": _floor_remainder,
    "Min": min,
    "Max": max,
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    # Compiled by LLVM, both sides of these are evaluated.
    "And": lambda a, b: a and b,
    "Or": lambda a, b: a or b,
    "BitwiseAnd": operator.and_,
    "BitwiseOr": operator.or_,
    "BitwiseXor": operator.xor,
    "LShift": _shifted(True),
    "RShift": _shifted(False),
}


def _guarded(function: Any) -> Callable[..., Any]:
    def run(*operands: Any) -> Any:
        try:
            return function(*operands)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return run


CALLS: dict[str, Callable[..., Any]] = {
    name: _guarded(function)
    for name, function in {
        "exp": math.exp,
        "exp2": lambda a: 2.0**a,
        "log": lambda a: math.log(a) if a else -math.inf,
        "log2": lambda a: math.log2(a) if a else -math.inf,
        "sqrt": math.sqrt,
        "rsqrt": lambda a: 1 / math.sqrt(a) if a else math.inf,
        "tanh": math.tanh,
        "sigmoid": lambda a: 1 / (1 + math.exp(-a)),
        "erf": math.erf,
        "sin": math.sin,
        "cos": math.cos,
        "pow": math.pow,
        "isnan": lambda a: int(a != a),
        "isinf": lambda a: int(math.isinf(a)),
        **{name: getattr(math, name) for name in ("tan", "acos", "asin", "atan", "atan2", "cosh", "sinh")},
        **{name: getattr(math, name) for name in ("acosh", "asinh", "atanh", "log10", "log1p")},
        "fabs": abs,
        "abs": abs,
        "floor": lambda a: float(math.floor(a)),
        "ceil": lambda a: float(math.ceil(a)),
        "trunc": lambda a: float(math.trunc(a)),
        "round": lambda a: float(round(a)),
        "nearbyint": lambda a: float(round(a)),
    }.items()
} | {
    "likely": lambda a: a,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "bitwise_not": operator.invert,
    "shift_left": _shifted(True),
    "shift_right": _shifted(False),
}
