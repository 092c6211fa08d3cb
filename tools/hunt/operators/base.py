"""What the families of operators have in common: which values fit, and what a family gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from random import Random
from typing import TypeAlias

from tools.hunt.program import Tensor, Type

Choice: TypeAlias = "tuple[str, tuple[str, ...], Type] | None"
"""A template, its operands and the type of the result; None where no value fits."""
Values: TypeAlias = "dict[str, Type]"
Family: TypeAlias = Callable[[Values, Random], Choice]
OfOne: TypeAlias = Callable[[Values, Random, str], Choice]

NUMBERS = ("float32", "float16", "bfloat16", "int32", "int64", "int8", "uint8")
"""The types that arithmetic is done in."""


def tensors(values: Values, fits: Callable[[Tensor], bool] = lambda _: True) -> list[str]:
    """The names of the tensors that fit."""
    return [name for name, kind in values.items() if isinstance(kind, Tensor) and fits(kind)]


def floats(values: Values, rank: int = 1) -> list[str]:
    """The names of tensors of the usual type."""
    return tensors(values, lambda kind: kind.dtype == "float32" and len(kind.shape) >= rank)


def numbers(values: Values, rank: int = 1) -> list[str]:
    """The names of tensors of any type of numbers; most often one of the usual type."""
    return tensors(values, lambda kind: kind.dtype in NUMBERS and len(kind.shape) >= rank)


def static(values: Values, rank: int = 1) -> list[str]:
    """The names of tensors of the usual type whose extents are numbers."""
    return [name for name in floats(values, rank) if of(values, name).is_static]


def of(values: Values, name: str) -> Tensor:
    """The type of a tensor."""
    kind = values[name]
    assert isinstance(kind, Tensor)
    return kind


def extents(values: Values, name: str) -> tuple[int, ...]:
    """The extents of a tensor whose extents are numbers."""
    return tuple(int(extent) for extent in of(values, name).shape)


def another(values: Values, random: Random, name: str) -> str:
    """A value of the same type, which may be the same one."""
    return random.choice([other for other, kind in values.items() if kind == values[name]])


def one_of(
    fitting: Callable[[Values], list[str]],
) -> Callable[[Callable[[Values, Random, str], Choice]], Family]:
    """The family of a function that is given one of the values that fit."""

    def family(make: Callable[[Values, Random, str], Choice]) -> Family:
        @wraps(make)
        def made(values: Values, random: Random) -> Choice:
            found = fitting(values)
            return make(values, random, random.choice(found)) if found else None

        return made

    return family
