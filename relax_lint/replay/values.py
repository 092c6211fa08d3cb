"""Inputs and results of a run as plain data, and how they are written in one line of text.

A tensor is written `float32[2, 3]` (filled with 0, 1, 2, ... in row-major order, modulo 64) or
`float32[2, 3] of 1` (every element is 1), a shape value `shape(3, -4)`, a scalar `5`, `-3`, `1.5` or `true`,
a tuple `(float32[2], 5)`.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from relax_lint.support.lazy_dataclass import dataclass

_TENSOR = re.compile(r"(?P<dtype>[a-z][a-z0-9_]*)\[(?P<extents>[\d, ]*)\](?: of (?P<fill>\d+))?")
_SHAPE = re.compile(r"shape\((?P<extents>[-\d, ]*)\)")
_SCALARS = {"true": True, "false": False}


@dataclass(frozen=True)
class Tensor:
    """A tensor of elements `dtype`; every element is `fill`, or they are 0, 1, 2, ... modulo 64."""

    dtype: str
    extents: tuple[int, ...]
    fill: int | None = None

    def __str__(self) -> str:
        contents = "" if self.fill is None else f" of {self.fill}"
        return f"{self.dtype}[{_commas(self.extents)}]{contents}"


@dataclass(frozen=True)
class Shape:
    """A shape value; extents may be negative."""

    extents: tuple[int, ...]

    def __str__(self) -> str:
        return f"shape({_commas(self.extents)})"


@dataclass(frozen=True)
class Scalar:
    """An `R.Prim` value."""

    value: int | float | bool

    def __str__(self) -> str:
        return str(self.value).lower()


@dataclass(frozen=True)
class Tuple:
    """A tuple of values."""

    fields: tuple[Input, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.fields))})"


Input: TypeAlias = "Tensor | Shape | Scalar | Tuple"


@dataclass(frozen=True)
class Output:
    """One value that a function returned (tuples are flattened).

    `values` are the elements in row-major order, None when the value is no tensor or has more
    than 64 elements or cannot be read. `text` is the value as it is written here, or TVM's type name.
    """

    text: str
    values: tuple[int | float | bool, ...] | None = None


def parse_input(text: str) -> Input:
    """The input that `text` writes.

    Raises ValueError when it writes none.
    """
    text = text.strip()
    if match := _TENSOR.fullmatch(text):
        fill = None if match["fill"] is None else int(match["fill"])
        return Tensor(match["dtype"], _extents(match["extents"]), fill)
    if match := _SHAPE.fullmatch(text):
        return Shape(_extents(match["extents"]))
    if text in _SCALARS:
        return Scalar(_SCALARS[text])
    if text.startswith("(") and text.endswith(")"):
        return Tuple(tuple(parse_input(part) for part in split_outside_brackets(text[1:-1])))
    try:
        return Scalar(int(text))
    except ValueError:
        return Scalar(float(text))


def split_outside_brackets(text: str) -> list[str]:
    """The parts of `text` between commas outside brackets; none for an empty text."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def _extents(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip())


def _commas(extents: tuple[int, ...]) -> str:
    return ", ".join(map(str, extents))
