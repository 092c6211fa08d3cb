"""What the parameters of a kernel that is tried hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from relax_lint.model.kernel_body.kept import Keep

KINDS = 5
"""So many kinds of contents there are."""
_BITS = 2**64 - 1
_SHIFTS = (-1, -0.5, 0, 0.5, 1)


class Drawn:
    """The contents that a kernel is tried with: near the `constants` that stand in it, and not a number where
    it `asks_for_nan`. In some trials all elements of a tensor are the same.
    """

    def __init__(self, constants: Sequence[float] = (), *, asks_for_nan: bool = False) -> None:
        self._constants = constants
        self._asks_for_nan = asks_for_nan

    def of(
        self, tensor: int, trial: int, keep: Keep, is_changed: Callable[[int], bool]
    ) -> Callable[[int], Any]:
        """What each element of a tensor holds in a trial, other numbers in those that are changed."""
        kind = trial % KINDS
        seeds = [_mixed((trial * 2 + number) * 64 + tensor) for number in (0, 1)]

        def begin(cell: int) -> Any:
            seed = seeds[is_changed(cell)]
            chance = _mixed(seed if kind == KINDS - 1 else seed + cell)
            return keep(self._number(chance, kind))

        return begin

    def _number(self, chance: int, kind: int) -> float:
        """A number of some kind, drawn by 64 random bits."""
        roll, chance = chance % 100, chance // 100
        if self._asks_for_nan and roll < 20:
            return (math.nan, math.inf)[chance % 2]
        if roll < 30 and self._constants:
            place, shift = divmod(chance, len(_SHIFTS))
            constants = self._constants
            return constants[place % len(constants)] + _SHIFTS[shift]
        if kind == 1 or roll >= 95:
            return (-1, 1)[chance % 2] * 10.0 ** (chance % 9) * (1 + chance % 1_009 / 1_009)
        if kind == 2:
            return chance % 2
        return chance % 10 + 0.013 if kind == 3 else chance % 19 - 9 + 0.013


def _mixed(number: int) -> int:
    """64 bits that a number is told by and that look random."""
    for times in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9):
        number = (number + 1) * times & _BITS
        number ^= number >> 31
    return number
