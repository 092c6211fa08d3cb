"""What a body is carried out on: buffers as cells, the values of variables, and how many steps are left."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class Declined(Exception):
    """The body does something that is not carried out here."""


class Outside(Declined):
    """The body uses an element that its buffer does not have."""


class Spent(Declined):
    """It takes more steps than may be gone."""


class Refused(Exception):
    """The body asserts something that does not hold: the kernel ends there, and the virtual machine fails."""


ENDS_A_TRIAL = (Declined, ArithmeticError, ValueError, LookupError, TypeError)
"""What is raised where a body cannot be carried out to its end, by Python too: with these numbers it divides
by zero, say, or needs a value that it has not got.
"""


@dataclass
class Memory:
    """A buffer on some cells, from `start` on, in row-major order."""

    cells: list[float]
    start: int
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def contents(self) -> list[float]:
        """The elements."""
        return self.cells[self.start : self.start + self.count]

    def cell(self, indices: Sequence[float]) -> int:
        """The cell of an element."""
        position = 0
        for index, extent in zip(indices, self.shape, strict=True):
            if isinstance(index, float):
                raise Declined
            position = position * extent + index
        if not 0 <= position < self.count:
            raise Outside
        return self.start + position


def key_of(node: Any) -> int:
    """What a variable or buffer is held by: where the node is in memory. TVM makes an expression of each
    comparison, which took longer than all else that is carried out.
    """
    address: int = node.__chandle__()
    return address


class Frame:
    """The values of variables and the buffers, by `key_of`, and how many steps are left."""

    def __init__(self, scalars: Mapping[Any, float], buffers: Mapping[Any, Memory], steps: int) -> None:
        self.scalars = {key_of(variable): value for variable, value in scalars.items()}
        self.buffers = {key_of(buffer): memory for buffer, memory in buffers.items()}
        self.steps = steps

    def step(self) -> None:
        """Count a step. Raises `Spent` after the last one."""
        self.steps -= 1
        if self.steps < 0:
            raise Spent
