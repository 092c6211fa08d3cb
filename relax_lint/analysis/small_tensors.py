"""Small tensors of numbers, each as it is without damage and with it, and kernels carried out on them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from relax_lint.model.kernel_body.cells import Declined
from relax_lint.model.kernel_body.machine import Cells, kept_by
from relax_lint.model.kernels import Kernel
from relax_lint.model.types import TensorType, ValueType

_MOST_ELEMENTS = 64
_NEAR = 1e-4
"""What differs by less than this part of a number may be rounded."""


class Unclear(Exception):
    """It is not found out what is computed."""


class Small:
    """A tensor with few elements. `both` are its elements without damage and with it."""

    def __init__(self, type_: TensorType, both: tuple[Cells, Cells]) -> None:
        self._type = type_
        self.both = both
        self.shape = tuple(int(one) for one in type_.shape or ())

    @staticmethod
    def fits(type_: ValueType) -> bool:
        """Whether the tensors of a type are of that kind."""
        if not isinstance(type_, TensorType) or type_.shape is None or type_.dtype is None:
            return False
        if not all(one.is_Integer for one in type_.shape):
            return False
        try:
            kept_by(type_.dtype.name)
        except Declined:
            return False
        return 0 < math.prod(int(one) for one in type_.shape) <= _MOST_ELEMENTS

    @classmethod
    def drawn(cls, type_: TensorType, chance: random.Random, kind: int) -> Small:
        """One that holds anything of some kind."""
        numbers = _numbers(type_, chance, kind)
        return cls(type_, (_cells(numbers), _cells(numbers)))

    @classmethod
    def constant(cls, type_: TensorType, numbers: Sequence[Any] | None) -> Small | None:
        """One that holds these numbers; None where they are not known."""
        if numbers is None or len(numbers) != _count(type_):
            return None
        return cls(type_, (_cells(numbers), _cells(numbers)))

    def damage(self, chance: random.Random, kind: int) -> None:
        """Something else is there."""
        for position, number in enumerate(_numbers(self._type, chance, kind)):
            self.both[1][position] = number

    def copied(self) -> Small:
        """The same in memory of its own."""
        numbers = [[side[at] for at in range(_count(self._type))] for side in self.both]
        return Small(self._type, (_cells(numbers[0]), _cells(numbers[1])))

    def seen_as(self, type_: TensorType) -> Small | None:
        """The same memory as a tensor of another type, where each element is one of it."""
        is_same = type_.dtype == self._type.dtype and _count(type_) == _count(self._type)
        return Small(type_, self.both) if is_same else None

    def take(self, other: Small) -> None:
        """Hold what another one holds, as far as both go."""
        for mine, its in zip(self.both, other.both, strict=True):
            for at in range(min(_count(self._type), _count(other._type))):
                mine[at] = its[at]

    def is_as(self, other: Small) -> bool:
        """Whether it holds without damage what another one holds, as far as both go: to a rounding error, and
        of another dtype nothing but zeros.
        """
        one, its = self.both[0], other.both[0]
        common = range(min(_count(self._type), _count(other._type)))
        if self._type.dtype != other._type.dtype:
            return not any(one[at] or its[at] for at in common)
        return not any(_is_far(one[at], its[at]) for at in common)

    def has_dtype_of(self, other: Small) -> bool:
        """Whether the elements are of one dtype."""
        return self._type.dtype == other._type.dtype

    @property
    def first(self) -> Any:
        """The first element, without damage."""
        return self.both[0][0]

    @property
    def differs(self) -> bool:
        """Whether it is another one with damage, by more than what may be rounded."""
        one, other = self.both
        return any(_is_far(one[at], other[at]) for at in range(_count(self._type)))


def carry_out(kernel: Kernel, given: Sequence[Small]) -> int:
    """Carry out a kernel on its arguments, without damage and with it; the number of steps. Raises `Unclear`
    where that is not possible: then they may hold anything.
    """
    steps = 0
    for side in (0, 1):
        taken = kernel.carry_out([(one.both[side], one.shape) for one in given])
        if taken is None:
            raise Unclear
        steps += taken
    return steps


def _count(type_: TensorType) -> int:
    return math.prod(int(one) for one in type_.shape or ())


def _cells(numbers: Sequence[Any]) -> Cells:
    held = list(numbers)
    return Cells(held.__getitem__)


def _numbers(type_: TensorType, chance: random.Random, kind: int) -> list[Any]:
    assert type_.dtype is not None
    keep = kept_by(type_.dtype.name)
    if type_.dtype.name == "bool":
        return [chance.randrange(2) for _ in range(_count(type_))]
    low, high = ((-9, 9), (1, 9), (0, 1), (-99, 99), (-1, 1))[kind % 5]
    return [keep(chance.randint(low, high) + chance.choice((0.013, 0.25, 0.5))) for _ in range(_count(type_))]


def _is_far(one: Any, other: Any) -> bool:
    if one == other or (one != one and other != other):
        return False
    if isinstance(one, int) and isinstance(other, int):
        return True
    difference = abs(one - other)
    return not difference <= _NEAR * max(abs(one), abs(other), 1)
