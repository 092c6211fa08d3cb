"""Tensors that functions are tried on, each as it is without damage and with it, and kernels carried out on
them. Of a large one only those elements are known that the steps which were carried out stored.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from relax_lint.model.kernel_body.cells import Declined, Refused
from relax_lint.model.kernel_body.kept import kept_by
from relax_lint.model.kernel_body.machine import Cells
from relax_lint.model.kernels import Kernel
from relax_lint.model.types import TensorType, ValueType

MOST_ELEMENTS = 64
"""A tensor with more elements is large: kernels carry out only some steps of each long loop on it."""
MOST_IN_PARTS = 320
"""The same where a part of a tensor counts."""
BOTH_SIDES = (0, 1)
"""Without damage and with it."""
_NEAR = 1e-4
"""What differs by less than this part of a number may be rounded."""


class Unclear(Exception):
    """It is not found out what is computed."""


class Seen(Exception):
    """The damage decides what is done."""


class Stopped(Exception):
    """What is asserted does not hold with these contents."""


class TrialTensor:
    """A tensor. `both` are its elements without damage and with it."""

    def __init__(self, type_: TensorType, both: tuple[Cells, Cells]) -> None:
        self._type = type_
        self.both = both
        self.shape = tuple(int(one) for one in type_.shape or ())
        self.count = math.prod(self.shape)
        """The number of elements."""

    @staticmethod
    def fits(type_: ValueType) -> bool:
        """Whether there are such tensors of a type: it has elements, so many of a dtype that is computed
        with.
        """
        if not isinstance(type_, TensorType) or type_.shape is None or type_.dtype is None:
            return False
        if not all(one.is_Integer for one in type_.shape):
            return False
        try:
            kept_by(type_.dtype.name)
        except Declined:
            return False
        return all(one > 0 for one in type_.shape)

    @classmethod
    def drawn(cls, type_: TensorType, seed: str, kind: int) -> TrialTensor:
        """One that holds anything of some kind."""
        begin = _numbers(type_, seed, kind)
        return cls(type_, (Cells(begin), Cells(begin)))

    @classmethod
    def constant(cls, type_: TensorType, numbers: Sequence[Any]) -> TrialTensor:
        """One that holds these numbers, as many as it has elements."""
        return cls(type_, (Cells(numbers.__getitem__), Cells(numbers.__getitem__)))

    def damage(self, seed: str, kind: int, is_struck: Callable[[int], bool] | None = None) -> None:
        """Something else is there, or in the elements that were struck."""
        cells, other = self.both[1], _numbers(self._type, seed, kind)
        if is_struck is None:
            cells.held.clear()
            cells.begin = other
            return
        before = cells.begin
        cells.held = {at: number for at, number in cells.held.items() if not is_struck(at)}
        cells.begin = lambda at: other(at) if is_struck(at) else before(at)

    def copied(self) -> TrialTensor:
        """The same in memory of its own."""
        made = TrialTensor(self._type, (Cells(_unknown), Cells(_unknown)))
        made.take(self)
        return made

    def with_a_side_of_its_own(self) -> tuple[Cells, TrialTensor]:
        """A copy of what it holds without damage, and a tensor of that and what this one holds with it."""
        own = Cells(self.both[0].begin)
        own.held = dict(self.both[0].held)
        return own, TrialTensor(self._type, (own, self.both[1]))

    def is_alike(self, other: TrialTensor) -> bool:
        """Whether another one has as many elements of this dtype, in this shape."""
        return self._type.dtype == other._type.dtype and self.shape == other.shape

    def on_sides(self, other: TrialTensor) -> TrialTensor:
        """The memory of this one without damage, and that of another one with it."""
        return TrialTensor(self._type, (self.both[0], other.both[1]))

    def seen_as(self, type_: TensorType) -> TrialTensor | None:
        """The same memory as a tensor of another type, where each element is one of it."""
        made = TrialTensor(type_, self.both)
        return made if type_.dtype == self._type.dtype and made.count == self.count else None

    def take(self, other: TrialTensor, distance: int = 0) -> None:
        """Hold what another one holds that begins at the element with the number `distance`, as far as both
        go.
        """
        for mine, its in zip(self.both, other.both, strict=True):
            _lay(mine, its, distance, other.count, self.count)

    def damage_with(self, other: TrialTensor, distance: int) -> None:
        """What another one holds without damage is there, from an element on."""
        _lay(self.both[1], other.both[0], distance, other.count, self.count)

    def is_as(self, other: TrialTensor) -> bool:
        """Whether it holds without damage what another one holds, as far as both go: to a rounding error, and
        of another dtype nothing but zeros. Raises `Unclear` where no element of both is known.
        """
        one, its = self.both[0], other.both[0]
        common = _known(one, its, min(self.count, other.count))
        if self._type.dtype != other._type.dtype:
            return not any(one[at] or its[at] for at in common)
        return not any(_is_far(one[at], its[at]) for at in common)

    def has_shape_of(self, type_: ValueType) -> bool:
        """Whether the shape is that of a type, as far as that is known."""
        shape = type_.shape if isinstance(type_, TensorType) else None
        return shape is None or self.shape == shape

    def has_dtype_of(self, other: TrialTensor) -> bool:
        """Whether the elements are of one dtype."""
        return self._type.dtype == other._type.dtype

    @property
    def width(self) -> int:
        """The bytes of an element."""
        assert self._type.dtype is not None
        return self._type.dtype.storage_bytes

    def first(self, side: int = 0) -> Any:
        """The first element on a side. Raises `Unclear` where it is not known."""
        try:
            return self.both[side][0]
        except Declined:
            raise Unclear from None

    @property
    def differs(self) -> bool:
        """Whether it is another one with damage, by more than what may be rounded. Raises `Unclear` where no
        element is known.
        """
        one, other = self.both
        return any(_is_far(one[at], other[at]) for at in _known(one, other, self.count))


def carry_out(
    kernel: Kernel,
    given: Sequence[TrialTensor | int],
    most: int = MOST_ELEMENTS,
    sides: Sequence[int] = BOTH_SIDES,
) -> int:
    """Carry out a kernel on its arguments, without damage and with it, or on one of these sides; the number
    of steps: all where none has more than `most` elements. Raises `Unclear` where that is not possible: then
    they may hold anything; `Stopped` where the kernel asserts what does not hold, `Seen` where that is so
    only on one side.
    """
    steps, stops = 0, 0
    is_sparse = any(one.count > most for one in given if not isinstance(one, int))
    for side in sides:
        written = [one.both[side] for one in written_by(kernel, given)]
        for cells in written:
            cells.stored.clear()
            cells.chosen.clear()
        held = [one if isinstance(one, int) else (one.both[side], one.shape) for one in given]
        try:
            taken = kernel.carry_out(held, is_sparse=is_sparse)
        except Refused:
            stops += 1
            continue
        if taken is None:
            raise Unclear
        if is_sparse:
            for cells in written:
                _forget_the_rest(cells)
        steps += taken
    if stops:
        raise Stopped if stops == len(BOTH_SIDES) else Seen
    return steps


def written_by(kernel: Kernel, given: Sequence[TrialTensor | int]) -> list[TrialTensor]:
    """The tensors among the arguments of a kernel that it writes, in their order."""
    return [one for position in sorted(kernel.writes) if not isinstance(one := given[position], int)]


def _forget_the_rest(cells: Cells) -> None:
    """The steps that were left out may have stored what these did not."""
    known = cells.stored | cells.chosen
    cells.held = {at: number for at, number in cells.held.items() if at in known}
    cells.begin = _unknown


def _unknown(cell: int) -> Any:
    """An element of which it is not known what it is."""
    raise Declined


def _known(one: Cells, other: Cells, count: int) -> Sequence[int]:
    """The elements that are known of two tensors with so many elements: where those are many, the ones that
    were met. Raises `Unclear` where there are none.
    """
    partly = [cells.held.keys() for cells in (one, other) if cells.begin is _unknown]
    if not partly and count <= MOST_IN_PARTS:
        return range(count)
    met = partly[0] & partly[-1] if partly else {*one.held, *other.held, 0, 1, count - 1}
    known = sorted(at for at in met if at < count)
    if not known:
        raise Unclear
    return known


def _lay(mine: Cells, its: Cells, distance: int, count: int, room: int) -> None:
    """Put so many cells over those from a number on, of which there are as many as there is `room` for."""
    first, end = max(distance, 0), min(distance + count, room)
    mine.held = {at: number for at, number in mine.held.items() if not first <= at < end}
    moved = ((at + distance, number) for at, number in its.held.items())
    mine.held.update((at, number) for at, number in moved if first <= at < end)
    above, below = mine.begin, its.begin
    if first >= end or (above is _unknown and below is _unknown):
        return
    if _unknown in (above, below):
        mine.begin = below if first == 0 and end == room else _unknown
        return
    mine.begin = lambda cell: below(cell - distance) if first <= cell < end else above(cell)


def _numbers(type_: TensorType, seed: str, kind: int) -> Callable[[int], Any]:
    """What is drawn for each element."""
    assert type_.dtype is not None
    keep, is_bool = kept_by(type_.dtype.name), type_.dtype.name == "bool"
    low, high = ((-9, 9), (1, 9), (0, 1), (-99, 99), (-1, 1))[kind % 5]

    def drawn(cell: int) -> Any:
        chance = random.Random(f"{seed} {cell}")
        if is_bool:
            return chance.randrange(2)
        return keep(chance.randint(low, high) + chance.choice((0.013, 0.25, 0.5)))

    return drawn


def _is_far(one: Any, other: Any) -> bool:
    if one == other or (one != one and other != other):
        return False
    if isinstance(one, int) and isinstance(other, int):
        return True
    difference = abs(one - other)
    return not difference <= _NEAR * max(abs(one), abs(other), 1)
