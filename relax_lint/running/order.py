"""The order in which the answers about one input come. A worker that somebody has taken over could go on for
ever otherwise: each answer brings it a new time limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from relax_lint.results.report import UnitResult
from relax_lint.running.messages import Answer, Doing, Impossible, Loaded, UnitList

_DOING_PER_UNIT = 3


@dataclass
class Order:
    """One attempt at an input of `size` bytes, from unit number `first` on. `units` is how many units an
    attempt before found in it; None if there was none. `lower` is the configuration's.
    """

    size: int
    first: int
    units: int | None
    lower: bool
    _found: bool = field(default=False, init=False)
    _loaded: bool = field(default=False, init=False)
    _doing: int = field(default=0, init=False)

    def admit(self, answer: Answer) -> None:
        """Raises ValueError for an answer that cannot come now."""
        if not self._may_come(answer):
            raise ValueError(f"`{type(answer).__name__}` out of order")
        if isinstance(answer, UnitList):
            self._found, self.units = True, len(answer.units)
        elif isinstance(answer, Loaded):
            self._loaded = True
        elif isinstance(answer, Doing):
            self._doing += 1
        elif isinstance(answer, UnitResult):
            self._doing = 0
            self.first += 1

    def _may_come(self, answer: Answer) -> bool:
        if isinstance(answer, UnitList):
            return not self._found and self._is_count(len(answer.units))
        waiting = self._found and self.first < (self.units or 0)
        if isinstance(answer, Loaded):
            return waiting and not self._loaded
        if isinstance(answer, Doing):
            return waiting and self._loaded and self._doing < _DOING_PER_UNIT
        if isinstance(answer, Impossible):
            return waiting and self._loaded and self.lower
        return waiting and self._loaded

    def _is_count(self, units: int) -> bool:
        """Whether an input can hold so many units. It holds as many each time that it is read."""
        if self.units is not None:
            return units == self.units
        return units <= 1 + self.size
