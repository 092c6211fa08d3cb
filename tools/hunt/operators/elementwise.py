"""Operators on each element, reductions, and other types of numbers."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tools.hunt.operators.base import (
    NUMBERS,
    Choice,
    Values,
    another,
    floats,
    numbers,
    of,
    one_of,
    tensors,
)
from tools.hunt.program import Tensor

UNARY = ("tanh", "sigmoid", "negative", "abs", "nn.relu", "nn.silu", "floor", "square")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")
COMPARED = ("greater", "less_equal", "equal")
LOGICAL = ("logical_and", "logical_or", "logical_xor")
WHOLE = "R.floor(R.abs({0}))"
"""Numbers for narrow types: what a number becomes that has no form there is up to the compiler."""
ONE = 'R.const(1, "float32")'


@one_of(floats)
def unary(values: Values, random: Random, name: str) -> Choice:
    """An elementwise operator with one operand."""
    return f"R.{random.choice(UNARY)}({{0}})", (name,), values[name]


@one_of(numbers)
def binary(values: Values, random: Random, one: str) -> Choice:
    """An elementwise operator with two operands of one type, which may be the same."""
    other = another(values, random, one)
    return f"R.{random.choice(BINARY)}({{0}}, {{1}})", (one, other), values[one]


@one_of(floats)
def scalar(values: Values, random: Random, name: str) -> Choice:
    """An operator with a constant."""
    number = random.choice((0.5, 1.0, 2.0))
    return f'R.{random.choice(BINARY)}({{0}}, R.const({number}, "float32"))', (name,), values[name]


@one_of(floats)
def select(values: Values, random: Random, one: str) -> Choice:
    """A comparison and a choice of elements."""
    other = another(values, random, one)
    return "R.where(R.greater({0}, {1}), {0}, {1})", (one, other), values[one]


def new(values: Values, random: Random) -> Choice:
    """A tensor that no operand goes into: zeros, ones, or a constant."""
    chance = random.random()
    if chance < 0.25:
        return 'R.const([1.0, 2.0, 3.0, 4.0], "float32")', (), Tensor((4,))
    if chance < 0.35:
        return 'R.full((4, 4), R.const(2, "float32"), "float32")', (), Tensor((4, 4))
    # Other symbols are defined by statements that may be left out.
    symbolic = [kind.shape for kind in values.values() if isinstance(kind, Tensor) and "n" in kind.shape]
    shape = random.choice([(4,), (4, 4), (2, 8), *symbolic[:1]])
    dtype = random.choice(("float32", "float32", "float32", "float16", "int32"))
    template = f'R.{random.choice(("zeros", "ones"))}({Tensor(shape).extents}, "{dtype}")'
    return template, (), Tensor(shape, dtype)


@one_of(floats)
def reduction(values: Values, random: Random, name: str) -> Choice:
    """A sum or an extreme value along an axis that is kept."""
    shape = of(values, name).shape
    axis = random.randrange(len(shape))
    kept = (*shape[:axis], 1, *shape[axis + 1 :])
    which = random.choice(("sum", "mean", "max", "min"))
    return f"R.{which}({{0}}, axis={axis}, keepdims=True)", (name,), Tensor(kept)


@one_of(floats)
def narrowed(values: Values, random: Random, name: str) -> Choice:
    """A tensor of another type or a quantised one, and back."""
    if random.random() < 0.3:
        scale, zero = 'R.const(0.5, "float32")', 'R.const(1, "int8")'
        quantised = f'R.quantize({{0}}, {scale}, {zero}, axis=0, out_dtype="int8")'
        return (
            f'R.dequantize({quantised}, {scale}, {zero}, axis=0, out_dtype="float32")',
            (name,),
            values[name],
        )
    if random.random() < 0.3:
        # Numbers that have a form there: TVM leaves out the rounding where it fuses the casts.
        dtype = random.choice(("float8_e4m3fn", "float8_e5m2"))
        small = f'R.minimum({WHOLE}, R.const(2, "float32"))'
        inner = f'R.astype(R.add({small}, {ONE}), "{dtype}")'
        return f'R.astype({inner}, "float32")', (name,), values[name]
    dtype = random.choice(("float16", "int32", "bool", "uint1"))
    given = f"R.minimum({WHOLE}, {ONE})" if dtype == "uint1" else "{0}"
    return f'R.astype(R.astype({given}, "{dtype}"), "float32")', (name,), values[name]


@one_of(numbers)
def converted(values: Values, random: Random, name: str) -> Choice:
    """A tensor of another type of numbers."""
    kind = of(values, name)
    dtype = random.choice([*NUMBERS, *["float32"] * 4])
    given = "{0}"
    if kind.dtype == "float32" and dtype in ("int8", "uint8"):
        given = f'R.minimum({WHOLE}, R.const(100, "float32"))'
    return f'R.astype({given}, "{dtype}")', (name,), replace(kind, dtype=dtype)


def quantised(values: Values, random: Random) -> Choice:
    """A tensor of 8 bits from one of 32 bits, or back."""
    found = floats(values)
    narrow = tensors(values, lambda kind: kind.dtype == "int8" and len(kind.shape) > 0)
    scale, zero = 'R.const(0.5, "float32")', 'R.const(1, "int8")'
    if narrow and random.random() < 0.5:
        name = random.choice(narrow)
        template = f'R.dequantize({{0}}, {scale}, {zero}, axis=0, out_dtype="float32")'
        return template, (name,), replace(of(values, name), dtype="float32")
    if not found:
        return None
    name = random.choice(found)
    template = f'R.quantize({{0}}, {scale}, {zero}, axis=0, out_dtype="int8")'
    return template, (name,), replace(of(values, name), dtype="int8")


def compared(values: Values, random: Random) -> Choice:
    """A tensor of conditions."""
    masks = tensors(values, lambda kind: kind.dtype == "bool" and len(kind.shape) > 0)
    if masks and random.random() < 0.3:
        one = random.choice(masks)
        other = another(values, random, one)
        return f"R.{random.choice(LOGICAL)}({{0}}, {{1}})", (one, other), values[one]
    found = floats(values)
    if not found:
        return None
    one = random.choice(found)
    other = another(values, random, one)
    template = f"R.{random.choice(COMPARED)}({{0}}, {{1}})"
    return template, (one, other), replace(of(values, one), dtype="bool")


def masked(values: Values, random: Random) -> Choice:
    """A choice of elements by conditions that are a value of their own."""
    masks = tensors(values, lambda kind: kind.dtype == "bool" and len(kind.shape) > 0)
    fits = [
        (m, name) for m in masks for name in floats(values) if _is_mask_of(of(values, m), of(values, name))
    ]
    if not fits:
        return None
    mask, one = random.choice(fits)
    other = another(values, random, one)
    return "R.where({0}, {1}, {2})", (mask, one, other), values[one]


def _is_mask_of(mask: Tensor, tensor: Tensor) -> bool:
    return replace(mask, dtype=tensor.dtype) == tensor
